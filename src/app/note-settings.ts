import type { Config } from "../config/config.ts";
import { canonicalJson } from "../domain/canonical-json.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { TrailStore } from "../domain/ports/trail-store.ts";

interface NoteSettingsDeps {
  readonly config: Pick<Config, "shown">;
  readonly trail: TrailStore;
  readonly clock: Pick<Clock, "now">;
}

/**
 * Records in the trail what the settings file says, if that has changed since the last entry. An entry contains everything that the
 * file sets, so the next start knows what to compare with; secrets are masked, so another secret in the same place is no change.
 */
export async function noteSettings({ config, trail, clock }: NoteSettingsDeps): Promise<void> {
  const inFile = config.shown().filter(({ source }) => source === "file");
  // A setting holds what svc.yaml may hold, which is JSON.
  const after = Object.fromEntries(inFile.map(({ key, value }) => [key, value])) as JsonObject;
  const { entries } = await trail.page({ action: "settings.change", limit: 1 });
  const before = entries[0]?.after ?? {};
  if (canonicalJson(before) === canonicalJson(after)) return;
  const [file = "svc.yaml"] = inFile.flatMap(({ where }) => where?.replace(/(:\d+)+$/, "") ?? []);
  await trail.note(
    { actor: { kind: "file", name: file }, at: clock.now() },
    { action: "settings.change", object: { kind: "server", id: "settings" }, before, after },
  );
}

/** The same for a server, whose settings are in force whether or not that can be stored. The next time they are read, it is tried again. */
export async function tryNoteSettings({
  log,
  ...deps
}: NoteSettingsDeps & { readonly log: Pick<Log, "warn"> }): Promise<void> {
  try {
    await noteSettings(deps);
  } catch (error) {
    log.warn(
      { err: error as Error },
      "the settings could not be noted in the trail; a later reading tries again",
    );
  }
}

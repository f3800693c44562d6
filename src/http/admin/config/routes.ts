import { AppError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { NoteChange } from "../../../service/note-change.ts";
import { type ShownSetting, settingForm } from "../../../toolkit/settings/shown.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { READ_SETTINGS, RELOAD_SETTINGS } from "./wire.ts";

/**
 * The result of reading the settings again. Either everything that can change is in force, or nothing is if anything is wrong.
 */
export interface Reloaded {
  readonly isInForce: boolean;
  /** Keys of settings whose values changed. */
  readonly changed: readonly string[];
  /** Keys of settings that changed in the file and wait for a restart. */
  readonly restart: readonly string[];
  /** What is wrong, with file, line and column. */
  readonly problems: readonly string[];
}

interface SettingDeps {
  readonly settings: () => readonly ShownSetting[];
  /** Absent if settings cannot change. */
  readonly reload: (() => Promise<Reloaded>) | undefined;
  readonly noteChange: NoteChange;
}

/** GET /admin/v1/config and POST /admin/v1/reload. */
export function settingEndpoints({ settings, reload, noteChange }: SettingDeps): Endpoint[] {
  return [
    managed("GET", "/admin/v1/config", READ_SETTINGS, async () =>
      // A setting holds what svc.yaml may hold, which is JSON.
      success({ settings: settings().map(settingForm) } as JsonObject),
    ),
    managed("POST", "/admin/v1/reload", RELOAD_SETTINGS, async ({ operator }) => {
      if (reload === undefined) throw new AppError("invalid_request", { kind: "settings_fixed" });
      const object = { kind: "server", id: "settings" } as const;
      await noteChange(operator, { action: "settings.reload", object, after: { asked: true } });
      const { isInForce, changed, restart, problems } = await reload();
      return success({
        in_force: isInForce,
        changed: [...changed],
        restart: [...restart],
        problems: [...problems],
      });
    }),
  ];
}

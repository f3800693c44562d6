import { statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { isSystemError } from "../../toolkit/system-error.ts";

const LOOK_EVERY_MS = 1_000;

type Place = Pick<Config, "configFile" | "dataDir">;

/** A text that differs whenever the settings file does. */
export function settingsSign({ configFile, dataDir }: Place): string {
  const own = ["svc.yaml", "svc.yml"].map((name) => join(dataDir, name));
  const paths = configFile === undefined || own.includes(configFile) ? own : [configFile];
  return paths.map(signOfOne).join("; ");
}

/**
 * Calls `onChange` when the settings file is not the one that was read last, after it was unchanged for one check, because an
 * editor may write it in pieces.
 *
 * @param lastRead its sign when it was read last, by whomever: a start takes as long as there is to migrate, and it may change meanwhile
 * @returns a function that stops it
 */
export function watchSettings(
  place: Place,
  lastRead: () => string,
  clock: Pick<Clock, "after">,
  onChange: () => void,
): () => void {
  let seen = lastRead();
  let cancel = clock.after(LOOK_EVERY_MS, look);
  function look(): void {
    const sign = settingsSign(place);
    const isSettled = sign === seen;
    seen = sign;
    cancel = clock.after(LOOK_EVERY_MS, look);
    if (isSettled && sign !== lastRead()) onChange();
  }
  return () => cancel();
}

function signOfOne(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch (error) {
    if (isSystemError(error)) return error.code;
    throw error;
  }
}

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./steps.ts";

/** How long each test file took when that was last recorded: `bun run test --update-timings`. */
export const DURATIONS_FILE = join(ROOT, "test/durations.json");

/** Milliseconds by path. */
export function readDurations(): Readonly<Record<string, number>> {
  return existsSync(DURATIONS_FILE) ? JSON.parse(readFileSync(DURATIONS_FILE, "utf8")).files : {};
}

import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder } from "../../helpers/server.ts";

/** The library of the Debian package `faketime`, which answers a process that asks for the time. */
const LIBRARY = ["x86_64", "aarch64"]
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path));

/** Elsewhere tests that set clocks are skipped, and say so by their names. */
export const canSetClocks = process.platform === "linux" && LIBRARY !== undefined;

/** The clock of the processes that are started with `env`. The monotonic clock stays as it is, as when an administrator sets the time. */
export interface SettableClock {
  readonly env: Readonly<Record<string, string>>;
  /** Sets it this far from the real time. */
  set(offsetMs: number): void;
}

export function openClock(offsetMs = 0): SettableClock {
  const file = join(emptyFolder("clock"), "offset");
  const set = (ms: number) => {
    // Renamed into place, so that nobody reads half a number.
    writeFileSync(`${file}.new`, `${ms < 0 ? "" : "+"}${ms / 1000}\n`);
    renameSync(`${file}.new`, file);
  };
  set(offsetMs);
  return {
    env: {
      LD_PRELOAD: LIBRARY ?? "",
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    set,
  };
}

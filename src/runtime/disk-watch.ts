import { statfsSync } from "node:fs";
import type { Clock, Log } from "../domain/ports/runtime.ts";

const EVERY_MS = 2_000;
/** What was too little is enough again with so much more: a disk at the mark would be told of at each look. */
const ENOUGH = 1.05;

export type DiskState = "enough" | "low" | "refusing";

export interface DiskWatchOptions {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** What is stored lies in these. */
  readonly folders: () => readonly string[];
  /** Bytes; never unless given. */
  readonly warnBelow: number | undefined;
  readonly refuseBelow: number | undefined;
  /** What an operator can do, in words. */
  readonly advice: string;
  /** Reads what a folder's disk has left. */
  readonly freeBytes?: (folder: string) => number;
}

/** Watches how much space is free for what is stored, and tells the log when that changes what is done. */
export function watchDisk(options: DiskWatchOptions) {
  const { clock, log, folders, warnBelow = 0, refuseBelow = 0, advice, freeBytes = readFree } = options;
  let state: DiskState = "enough";
  let cancel = () => {};

  function stateAt(free: number): DiskState {
    if (free < refuseBelow * (state === "refusing" ? ENOUGH : 1)) return "refusing";
    return free < warnBelow * (state === "enough" ? 1 : ENOUGH) ? "low" : "enough";
  }

  function look(): void {
    try {
      const free = Math.min(...folders().map(freeBytes));
      const before = state;
      state = stateAt(free);
      if (state !== before) tell(free);
    } catch (error) {
      log.warn({ err: error as Error }, "how much space is free on the disk cannot be read");
    }
    cancel = clock.after(EVERY_MS, look);
  }

  function tell(free: number): void {
    const fields = { free_mb: Math.floor(free / 1e6) };
    if (state === "refusing")
      log.error(fields, `the disk is nearly full, and new tasks are refused; ${advice}`);
    else if (state === "low") log.warn(fields, `little space is free on the disk; ${advice}`);
    else log.info(fields, "there is enough space on the disk again");
  }

  if (warnBelow > 0 || refuseBelow > 0) look();
  return { state: (): DiskState => state, stop: () => cancel() };
}

export type DiskWatch = ReturnType<typeof watchDisk>;

function readFree(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

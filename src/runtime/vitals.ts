import { statfsSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import type { DiskSpace, Vitals } from "../domain/overview.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Tally } from "../domain/ports/tally.ts";

/** How often a timer is set whose lateness is measured, */
const PROBE_MS = 100;
/** and how many of its results are kept: ten seconds. */
const PROBES = 100;

export interface VitalsDeps {
  readonly clock: Pick<Clock, "elapsed" | "after">;
  readonly tally: Pick<Tally, "lagged">;
}

/** Watches how late the event loop comes to its timers. @returns what reads memory and lateness, and how to stop */
export function watchVitals({ clock, tally }: VitalsDeps) {
  const lags = new Float64Array(PROBES);
  let probes = 0;
  let cancel = () => {};

  function probe(): void {
    const dueAt = clock.elapsed() + PROBE_MS;
    cancel = clock.after(PROBE_MS, () => {
      const lateMs = Math.max(0, clock.elapsed() - dueAt);
      lags[probes++ % PROBES] = lateMs;
      tally.lagged(lateMs);
      probe();
    });
  }
  probe();

  return {
    read(): Vitals {
      const sorted = lags.slice(0, Math.min(probes, PROBES)).sort();
      const { rss, heapUsed } = process.memoryUsage();
      return {
        rssBytes: rss,
        heapBytes: heapUsed,
        lagP50Ms: sorted[Math.ceil(sorted.length / 2) - 1] ?? 0,
        lagMaxMs: sorted.at(-1) ?? 0,
      };
    },
    stop: () => cancel(),
  };
}

/** The memory that this process has at this moment. */
export const readRssBytes = (): number => process.memoryUsage.rss();

/** The memory that this machine gives this process: a container's limit, or all there is. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Reads what a folder's disk has left, and how large a database in it is. */
export function readDiskSpace(folder: string, database: string): DiskSpace {
  const { bavail, bsize } = statfsSync(folder);
  return {
    freeBytes: bavail * bsize,
    databaseBytes: sizeOf(database),
    walBytes: sizeOf(`${database}-wal`),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

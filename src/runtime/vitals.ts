import { readFileSync, statfsSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import type { DiskSpace, Vitals } from "../domain/overview.ts";
import type { Clock } from "../domain/ports/runtime.ts";

/** How often a timer is set whose lateness is measured, */
const PROBE_MS = 100;
/** and how many of its results are kept: ten seconds. */
const PROBES = 100;

export interface VitalsDeps {
  readonly clock: Pick<Clock, "elapsed" | "after">;
  /** How long this thread has computed. */
  readonly computedMs: () => number;
  /**
   * Called with the lateness of the loop, and with the part that this thread's computing caused. The loop is also late if the
   * machine has no processor for it.
   */
  readonly lagged: (lateMs: number, computedMs: number) => void;
}

/** Measures how late the event loop runs its timers. @returns functions that read memory and lateness, and that stop it */
export function watchVitals({ clock, computedMs, lagged }: VitalsDeps) {
  const lags = new Float64Array(PROBES);
  let probes = 0;
  let cancel = () => {};

  function probe(): void {
    const dueAt = clock.elapsed() + PROBE_MS;
    const computedBefore = computedMs();
    cancel = clock.after(PROBE_MS, () => {
      const lateMs = Math.max(0, clock.elapsed() - dueAt);
      lags[probes++ % PROBES] = lateMs;
      lagged(lateMs, Math.min(lateMs, computedMs() - computedBefore));
      probe();
    });
  }
  probe();

  return {
    read(): Vitals {
      const sorted = lags.slice(0, Math.min(probes, PROBES)).sort();
      const { rss, heapUsed } = memory();
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

/** Reading the memory opens a file. If no more files may be opened, the last value is reported. */
function lastKnown<T>(read: () => T, first: T): () => T {
  let last = first;
  return () => {
    try {
      last = read();
    } catch {
      // As it was.
    }
    return last;
  };
}

const memory = lastKnown<{ rss: number; heapUsed: number }>(() => process.memoryUsage(), {
  rss: 0,
  heapUsed: 0,
});

/**
 * The memory of this process that the system cannot take back at this moment. Pages of files, such as most of the executable, it can;
 * where it does not tell them apart, they count.
 */
export const readHeldBytes = lastKnown(
  () => (process.platform === "linux" ? anonymousBytes() : process.memoryUsage.rss()),
  0,
);

/** https://docs.kernel.org/filesystems/proc.html, 2026-12 */
function anonymousBytes(): number {
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return kilobytes === undefined ? process.memoryUsage.rss() : Number(kilobytes) * 1024;
}

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

import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import { type Reclaimable, reclaimLines } from "../domain/reclaimable.ts";
import { type DiskWatch, watchDisk } from "../runtime/disk-watch.ts";
import type { Releases } from "./lifecycle.ts";

/** How often at most the removable bytes are counted, because counting reads everything that is stored. */
const COUNT_EVERY_MS = 10 * 60_000;

/** How long a first alert waits for the count, so that it can say what to do. */
const ADVISED_WITHIN_MS = 60_000;

/** A server's disk. */
export interface WatchedDisk extends Pick<DiskWatch, "state" | "reading"> {
  /** What would free space there, one line each; undefined before the first count. */
  readonly advice: () => readonly string[] | undefined;
  /** False during the first count, which takes a minute at most. */
  readonly isAdvised: () => boolean;
}

export interface DiskDeps {
  readonly clock: Pick<Clock, "after" | "elapsed">;
  readonly log: Log;
  /** Counts what would free space, off the event loop. */
  readonly count: () => Promise<Reclaimable>;
}

/** Watches the disks on which a server stores. While space is low, it counts what would free some. */
export function watchDiskOf(
  config: Pick<Config, "dataDir" | "assets" | "disk" | "retention">,
  { clock, log, count }: DiskDeps,
  releases: Releases,
): WatchedDisk {
  let found: Reclaimable | undefined;
  let countedAt = Number.NEGATIVE_INFINITY;
  let adviceDueAt = Number.NEGATIVE_INFINITY;
  let isToTell = false;
  let isStopped = false;
  const advice = () => found && reclaimLines(found, config.retention);

  async function countNow(): Promise<void> {
    if (found === undefined) adviceDueAt = clock.elapsed() + ADVISED_WITHIN_MS;
    try {
      found = await count();
      if (isToTell) tellAdvice(log, advice() ?? []);
      isToTell = false;
    } catch (error) {
      adviceDueAt = Number.NEGATIVE_INFINITY;
      if (!isStopped) log.warn({ err: error as Error }, "what would free space could not be counted");
    }
  }

  const watch = watchDisk({
    clock,
    log,
    // The folder of files is made with the first one.
    folders: () => [config.dataDir, config.assets.path].filter((folder) => existsSync(folder)),
    marks: () => ({ warn: config.disk.warnMb, refuse: config.disk.refuseMb }),
    onTrouble(isChange) {
      isToTell ||= isChange;
      if (!isChange && clock.elapsed() - countedAt < COUNT_EVERY_MS) return;
      countedAt = clock.elapsed();
      void countNow();
    },
  });
  releases.push(() => {
    isStopped = true;
    watch.stop();
  });
  const isAdvised = () => found !== undefined || clock.elapsed() >= adviceDueAt;
  return { state: watch.state, reading: watch.reading, advice, isAdvised };
}

function tellAdvice(log: Log, lines: readonly string[]): void {
  const what = lines.length === 0 ? "nothing that is kept here; give the disk more space" : lines.join("; ");
  log.warn({}, `what would free space on the disk: ${what}`);
}

import type { Clock, Log } from "../domain/ports/runtime.ts";

const FIRST_MS = 10 * 60_000;
const EVERY_MS = 6 * 60 * 60_000;
/** Between two folders, which take about a millisecond each: others come first, and a million files take some minutes. */
const PAUSE_MS = 10;

export interface CollectorDeps {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** Collects, and pauses between two folders as long as it is told. */
  readonly collect: (
    pause: () => Promise<boolean>,
  ) => Promise<{ readonly files: number; readonly bytes: number }>;
}

/** Removes now and then what nobody refers to. */
export function createCollector({ clock, log, collect }: CollectorDeps) {
  let isStopped = false;
  let cancelTimer = () => {};

  function pause(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancel = clock.after(PAUSE_MS, () => resolve(!isStopped));
    cancelTimer = () => {
      cancel();
      resolve(false);
    };
    return promise;
  }

  async function round(): Promise<void> {
    try {
      const { files, bytes } = await collect(pause);
      if (files > 0) log.info({ files, bytes }, "files that no task has were removed");
    } catch (error) {
      log.error({ err: error as Error }, "files that no task has could not be collected");
    }
    arm(EVERY_MS);
  }

  function arm(delayMs: number): void {
    if (!isStopped) cancelTimer = clock.after(delayMs, () => void round());
  }

  return {
    start: () => arm(FIRST_MS),
    stop(): void {
      isStopped = true;
      cancelTimer();
    },
  };
}

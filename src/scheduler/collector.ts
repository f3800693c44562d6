import type { Clock, Log } from "../domain/ports/runtime.ts";

const FIRST_MS = 10 * 60_000;
const EVERY_MS = 6 * 60 * 60_000;
/** After this time, files that were too young in a round are old enough. */
const YOUNG_MS = 61 * 60_000;
/** Most files that are remembered; more are left to the next round. */
const MOST_YOUNG = 100_000;
/**
 * Pause between two folders, which take about a millisecond each. Other work comes first, and a million files take some
 * minutes.
 */
const PAUSE_MS = 10;

export interface CollectorDeps {
  readonly clock: Pick<Clock, "after" | "elapsed">;
  readonly log: Log;
  /** Collects, and calls `pause` between two folders. */
  readonly collect: (options: {
    readonly pause: () => Promise<boolean>;
    /** Looks only at these files; at all unless given. */
    readonly only?: readonly string[] | undefined;
    readonly onYoung: (sha256: string) => void;
  }) => Promise<{ readonly files: number; readonly bytes: number }>;
}

/** Now and then removes unreferenced files. Files that a round finds too young are tried again an hour later. */
export function createCollector({ clock, log, collect }: CollectorDeps) {
  let isStopped = false;
  let cancelTimer = () => {};
  let nextWholeAt = 0;

  function pause(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancel = clock.after(PAUSE_MS, () => resolve(!isStopped));
    cancelTimer = () => {
      cancel();
      resolve(false);
    };
    return promise;
  }

  async function round(only?: readonly string[]): Promise<void> {
    if (only === undefined) nextWholeAt = clock.elapsed() + EVERY_MS;
    const young: string[] = [];
    const onYoung = (sha256: string) => void (young.length < MOST_YOUNG && young.push(sha256));
    try {
      const { files, bytes } = await collect({ pause, only, onYoung });
      if (files > 0) log.info({ files, bytes }, "files that no task has were removed");
    } catch (error) {
      log.error({ err: error as Error }, "files that no task has could not be collected");
    }
    const wholeMs = Math.max(nextWholeAt - clock.elapsed(), 0);
    // The next full round finds the others.
    if (young.length > 0 && wholeMs > YOUNG_MS) arm(YOUNG_MS, young);
    else arm(wholeMs);
  }

  function arm(delayMs: number, only?: readonly string[]): void {
    if (!isStopped) cancelTimer = clock.after(delayMs, () => void round(only));
  }

  return {
    start: () => arm(FIRST_MS),
    stop(): void {
      isStopped = true;
      cancelTimer();
    },
  };
}

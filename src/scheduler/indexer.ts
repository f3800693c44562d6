import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { SearchStore } from "../domain/ports/search-store.ts";

/** Between two looks for new tasks. */
const EVERY_MS = 1_000;
/** Tasks per batch; indexing them takes about a millisecond. */
const BATCH = 20;
/** Pause between two batches while there are more, because creates come first. */
const PAUSE_MS = 50;
/**
 * After a batch, the pause is this many times as long, so that indexing takes a fiftieth of the time, however slow the machine
 * is.
 */
const REST = 49;

export interface IndexerDeps {
  readonly search: SearchStore;
  readonly clock: Pick<Clock, "after" | "elapsed">;
  readonly log: Log;
  /** If false, nothing is indexed, and the existing index is removed. */
  readonly isOn: boolean;
}

/** Indexes the prompts of accepted tasks: within about a second, as long as fewer than 400 tasks come in a second. */
export function createIndexer({ search, clock, log, isOn }: IndexerDeps) {
  let isStopped = false;
  let cancelTimer = () => {};

  /** Indexes a batch. @returns milliseconds until the next */
  async function step(): Promise<number> {
    const start = clock.elapsed();
    const count = await search.index(BATCH);
    return count < BATCH ? EVERY_MS : Math.max(PAUSE_MS, REST * (clock.elapsed() - start));
  }

  async function run(work: () => Promise<number | undefined>): Promise<void> {
    let restMs: number | undefined = EVERY_MS;
    try {
      restMs = await work();
    } catch (error) {
      log.error({ err: error as Error }, "prompts could not be indexed; trying again");
    }
    if (restMs !== undefined && !isStopped) cancelTimer = clock.after(restMs, () => void run(work));
  }

  return {
    start: () => void run(isOn ? step : () => search.clear().then(() => undefined)),
    stop(): void {
      isStopped = true;
      cancelTimer();
    },
  };
}

import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";

const EVERY_MS = 10 * 60_000;
const BATCH = 500;

/** Removes what has expired, in small batches, then lets the store tidy up. */
export function createCleaner(deps: { tasks: TaskStore; clock: Clock; log: Log; tidy: () => void }) {
  let cancelTimer = () => {};

  /** Runs one round. @returns idempotency records removed */
  async function tick(): Promise<number> {
    let total = 0;
    for (;;) {
      const removed = await deps.tasks.expireIdempotency(deps.clock.now(), BATCH);
      total += removed;
      if (removed < BATCH) break;
    }
    deps.tidy();
    return total;
  }

  function arm(): void {
    cancelTimer = deps.clock.after(EVERY_MS, () => {
      tick()
        .catch((error: unknown) => deps.log.error({ err: error as Error }, "cleaning failed"))
        .finally(arm);
    });
  }

  return { start: arm, tick, stop: () => cancelTimer() };
}

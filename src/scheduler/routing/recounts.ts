import type { Clock, Log } from "../../domain/ports/runtime.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { Loads } from "./loads.ts";

/** The counts of the start are exact, and stay nearly so for a while. */
const FIRST_MS = 60_000;
const EVERY_MS = 5_000;
/** A count takes as long as many tasks wait: it may take a two hundredth of the time. */
const REST_TIMES = 200;

/**
 * Counts again and again how busy accounts are. A task that is cancelled while it waits, or that another account takes over, counts
 * where it waited until then.
 */
export function createRecounts(deps: {
  readonly loads: Pick<Loads, "start">;
  readonly tasks: Pick<TaskStore, "laneCounts">;
  readonly clock: Pick<Clock, "after" | "elapsed">;
  readonly log: Log;
}) {
  const { loads, tasks, clock, log } = deps;
  let isStopped = false;
  let cancelTimer = () => {};

  async function recount(): Promise<void> {
    const beganAt = clock.elapsed();
    try {
      loads.start(await tasks.laneCounts());
    } catch (error) {
      log.warn({ err: error as Error }, "how busy accounts are could not be counted");
    }
    arm(Math.max(EVERY_MS, (clock.elapsed() - beganAt) * REST_TIMES));
  }

  function arm(delayMs: number): void {
    if (!isStopped) cancelTimer = clock.after(delayMs, () => void recount());
  }

  return {
    start: () => arm(FIRST_MS),
    stop(): void {
      isStopped = true;
      cancelTimer();
    },
  };
}

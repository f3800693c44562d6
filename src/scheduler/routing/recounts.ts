import type { Clock, Log } from "../../domain/ports/runtime.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { Loads } from "./loads.ts";

/** The counts of the start are exact, and stay nearly so for a while. */
const FIRST_MS = 60_000;
const EVERY_MS = 5_000;

/**
 * Counts again and again how busy accounts are. A task that is cancelled while it waits, or that another account takes over, counts
 * where it waited until then.
 */
export function createRecounts(deps: {
  readonly loads: Pick<Loads, "start">;
  readonly tasks: Pick<TaskStore, "lanes">;
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
}) {
  const { loads, tasks, clock, log } = deps;
  let isStopped = false;
  let cancelTimer = () => {};

  async function recount(): Promise<void> {
    try {
      loads.start(await tasks.lanes());
    } catch (error) {
      log.warn({ err: error as Error }, "how busy accounts are could not be counted");
    }
    arm(EVERY_MS);
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

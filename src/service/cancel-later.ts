import { AppError } from "../domain/errors.ts";
import type { Log } from "../domain/ports/runtime.ts";
import type { GenerationRequest } from "../domain/task/request.ts";
import type { TaskSummary } from "../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "./cancel-task.ts";
import { readTask } from "./read-task.ts";

/** A task that must be cancelled at a time that its creator set. */
export type TimedTask = Pick<TaskSummary, "id" | "accountId"> & Pick<GenerationRequest, "cancelsUnstarted">;

export interface CancelLaterDeps extends CancelTaskDeps {
  readonly log: Log;
  /** Aborts when the service stops. The next start plans the remaining cancels again. */
  readonly stopping: AbortSignal;
}

export interface CancelLater {
  /** Cancels the task at the given time in epoch milliseconds, unless it has ended, or started where that is enough. */
  plan(task: TimedTask, at: number): void;
  /** Plans the cancels that other processes have planned. Those that this one has planned stay. */
  resume(): Promise<void>;
}

/** How soon a cancel is tried again after it could not be stored. */
const AGAIN_MS = 2_000;

/** Cancels tasks at times that their creators have set (`GenerationRequest.cancelAt`). */
export function createCancelLater(deps: CancelLaterDeps): CancelLater {
  const { clock, tasks, feed, log, stopping } = deps;
  const planned = new Map<string, () => void>();
  // Most tasks end long before their time.
  const unsubscribe = feed.subscribeAll((id, isOver) => {
    if (isOver) forget(id);
  });

  function forget(id: string): void {
    planned.get(id)?.();
    planned.delete(id);
  }

  function plan(task: TimedTask, at: number): void {
    if (stopping.aborted) return;
    forget(task.id);
    planned.set(
      task.id,
      clock.after(Math.max(0, at - clock.now()), () => void due(task, at)),
    );
  }

  async function due(task: TimedTask, at: number): Promise<void> {
    planned.delete(task.id);
    try {
      // A timer may end a moment early. The clock may have been set, and then the stored time was moved by as much.
      if (clock.now() < at) {
        const { cancelAt = at } = (await tasks.byId(task.id))?.request ?? {};
        if (clock.now() < cancelAt) return plan(task, cancelAt);
      }
      if (task.cancelsUnstarted && (await readTask(deps, task, task.id)).startedAt !== undefined) return;
      await cancelTask(deps, task, task.id);
    } catch (error) {
      // It has ended, or is gone.
      if (error instanceof AppError) return;
      log.warn({ task: task.id, err: error as Error }, "a task could not be cancelled at its time");
      plan(task, clock.now() + AGAIN_MS);
    }
  }

  stopping.addEventListener("abort", () => {
    unsubscribe();
    for (const stopTimer of planned.values()) stopTimer();
    planned.clear();
  });

  return {
    plan,
    async resume() {
      for (const { cancelAt, ...task } of await tasks.timed()) plan(task, cancelAt);
    },
  };
}

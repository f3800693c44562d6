import type { Principal } from "../domain/access/account.ts";
import type { Act } from "../domain/access/actor.ts";
import { AppError } from "../domain/errors.ts";
import { isId } from "../domain/ids.ts";
import type { Clock, TaskFeed } from "../domain/ports/runtime.ts";
import type { Tally } from "../domain/ports/tally.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { Wakeup } from "../domain/ports/wakeup.ts";
import { isTerminal, type TaskSummary } from "../domain/task/task.ts";
import { readTask } from "./read-task.ts";

export interface CancelTaskDeps {
  readonly tasks: TaskStore;
  readonly clock: Clock;
  readonly feed: TaskFeed;
  readonly wakeup: Wakeup;
  readonly tally: Pick<Tally, "cancelled">;
}

/**
 * Cancels a task. A task that has not started ends at once. For a task under way, the upstream is asked first, so the returned
 * task may still be processing.
 * @param act an operator's act, for the trail
 * @throws AppError `task_not_found`; `task_not_cancellable` when it has ended
 */
export async function cancelTask(
  deps: CancelTaskDeps,
  principal: Pick<Principal, "accountId">,
  id: string,
  act?: Act,
): Promise<TaskSummary> {
  const outcome = isId("task", id)
    ? await deps.tasks.requestCancel(id, principal.accountId, deps.clock.now(), act)
    : "not_found";
  const task = await readTask(deps, principal, outcome === "not_found" ? "" : id);
  if (outcome === "already_final") {
    const facts = { kind: "task_over", status: task.status } as const;
    throw new AppError("task_not_cancellable", facts, { shouldRetry: false });
  }
  // Other tasks are counted at their end.
  if (outcome === "cancelled") deps.tally.cancelled(task.model);
  deps.feed.publish(task, isTerminal(task.status));
  deps.wakeup.wake();
  return task;
}

import type { Principal } from "../domain/account.ts";
import { AppError } from "../domain/errors.ts";
import { isId, type TaskId } from "../domain/ids.ts";
import type { Clock, TaskFeed } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { TaskKind } from "../domain/request.ts";
import { isTerminal, type TaskSummary } from "../domain/task.ts";

export interface ReadTaskDeps {
  readonly tasks: TaskStore;
  readonly feed: TaskFeed;
  readonly clock: Clock;
}

const notFound = () => new AppError("task_not_found", "There is no such task in this account.");

/**
 * A task of the caller's account, of the given kind.
 *
 * @throws AppError `task_not_found`, alike for a malformed id, an unknown task, another account's and another kind's
 */
export async function readTask(
  deps: Pick<ReadTaskDeps, "tasks">,
  principal: Principal,
  id: string,
  kind?: TaskKind,
): Promise<TaskSummary> {
  const task = isId("task", id) ? await deps.tasks.summary(id) : undefined;
  if (task === undefined || task.accountId !== principal.accountId) throw notFound();
  if (kind !== undefined && task.kind !== kind) throw notFound();
  return task;
}

/** The same, answered as soon as the task is terminal, or after `waitMs` with what is. */
export async function awaitTask(
  deps: ReadTaskDeps,
  principal: Principal,
  query: {
    readonly id: string;
    readonly kind: TaskKind;
    readonly waitMs: number;
    readonly signal: AbortSignal;
  },
): Promise<TaskSummary> {
  const deadline = deps.clock.now() + query.waitMs;
  for (;;) {
    const change = nextChange(deps, query.id as TaskId, query.signal);
    try {
      const task = await readTask(deps, principal, query.id, query.kind);
      const leftMs = deadline - deps.clock.now();
      if (isTerminal(task.status) || leftMs <= 0 || query.signal.aborted) return task;
      await change.within(leftMs);
    } finally {
      change.stop();
    }
  }
}

/** Subscribed before the task is read, so that no change falls between the two. */
function nextChange(deps: ReadTaskDeps, id: TaskId, signal: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = deps.feed.subscribe(id, resolve);
  const onAbort = () => resolve();
  signal.addEventListener("abort", onAbort);
  let cancelTimer = () => {};
  return {
    within(ms: number): Promise<void> {
      cancelTimer = deps.clock.after(ms, resolve);
      return promise;
    },
    stop() {
      unsubscribe();
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
    },
  };
}

import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import { isId, type TaskId } from "../domain/ids.ts";
import type { Clock, TaskFeed } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { TaskKind } from "../domain/task/request.ts";
import { isTerminal, type TaskSummary } from "../domain/task/task.ts";

export interface ReadTaskDeps {
  readonly tasks: TaskStore;
  readonly feed: TaskFeed;
  readonly clock: Clock;
}

/** A task with its place in the queue. */
export interface TaskReading extends TaskSummary {
  /** How many tasks of its provider's queue are ahead of it now; absent once it has started. */
  readonly queuePosition?: number | undefined;
}

const notFound = () => new AppError("task_not_found", { kind: "task_unknown" });

/**
 * Reads a task of the caller's account, of the given kind.
 * @throws AppError `task_not_found`, for a malformed id, an unknown task, another account's and another kind's alike
 */
export async function readTask(
  deps: Pick<ReadTaskDeps, "tasks">,
  principal: Pick<Principal, "accountId">,
  id: string,
  kind?: TaskKind,
): Promise<TaskSummary> {
  const task = isId("task", id) ? await deps.tasks.summary(id) : undefined;
  if (task === undefined || task.accountId !== principal.accountId) throw notFound();
  if (kind !== undefined && task.kind !== kind) throw notFound();
  return task;
}

/** Adds the task's place in the queue while it is pending. */
export async function withQueuePosition(
  deps: Pick<ReadTaskDeps, "tasks">,
  task: TaskSummary,
): Promise<TaskReading> {
  if (task.status !== "pending") return task;
  return { ...task, queuePosition: await deps.tasks.queuePosition(task.id) };
}

/** Waits until the task is terminal, at most `waitMs`, and returns it as it is then. */
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
  const deadline = deps.clock.elapsed() + query.waitMs;
  for (;;) {
    const change = nextChange(deps, query.id as TaskId, query.signal, "last");
    try {
      const task = await readTask(deps, principal, query.id, query.kind);
      const leftMs = deadline - deps.clock.elapsed();
      if (isTerminal(task.status) || leftMs <= 0 || query.signal.aborted) return task;
      await change.within(leftMs);
    } finally {
      change.stop();
    }
  }
}

/**
 * Subscribes to the task's next change. Call it before reading the task, so that no change is missed in between. `within`
 * resolves at the change (for `last`, at the one that ends the task), after `ms`, or when `signal` aborts. `stop` ends the
 * subscription and must be called.
 */
export function nextChange(
  deps: Pick<ReadTaskDeps, "feed" | "clock">,
  id: TaskId,
  signal: AbortSignal,
  which: "any" | "last" = "any",
) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = deps.feed.subscribe(id, (isOver) => {
    if (isOver || which === "any") resolve();
  });
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

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
  /** How many tasks of its provider's queue are ahead of it now; absent after it has started. */
  readonly queuePosition?: number | undefined;
}

const notFound = () => new AppError("task_not_found", { kind: "task_unknown" });

/**
 * Reads a task of the caller's account, of the given kind.
 * @throws AppError `task_not_found`, the same for a malformed id, an unknown task, another account's task and another kind
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

/** Waits until the task is terminal, at most `waitMs`, and returns its state then. */
export async function awaitTask(
  deps: ReadTaskDeps,
  principal: Principal,
  query: {
    readonly id: string;
    readonly kind: TaskKind;
    readonly waitMs: number;
    /** Any of them ends the wait. */
    readonly signals: readonly AbortSignal[];
    /** Its last change, for a new task that was watched before it was stored: until then there is nothing to read. Stopped here. */
    readonly end?: Change | undefined;
  },
): Promise<TaskSummary> {
  const deadline = deps.clock.elapsed() + query.waitMs;
  if (query.end !== undefined) {
    if (query.waitMs > 0) await query.end.within(query.waitMs, ...query.signals);
    query.end.stop();
  }
  for (;;) {
    const change = nextChange(deps, query.id as TaskId, "last");
    try {
      const task = await readTask(deps, principal, query.id, query.kind);
      const leftMs = deadline - deps.clock.elapsed();
      const isLeft = query.signals.some(({ aborted }) => aborted);
      if (isTerminal(task.status) || leftMs <= 0 || isLeft) return task;
      await change.within(leftMs, ...query.signals);
    } finally {
      change.stop();
    }
  }
}

/** A task's next change. */
export interface Change {
  /** Resolves at the change, after `ms`, or when any of the signals aborts. */
  within(ms: number, ...signals: readonly AbortSignal[]): Promise<void>;
  /** Ends the subscription. */
  stop(): void;
}

/**
 * Subscribes to the task's next change; for `last`, to the one that ends the task. Call it before reading the task, so that no change is
 * missed in between. The subscription ends with the task, if not before.
 */
export function nextChange(
  { feed, clock }: Pick<ReadTaskDeps, "feed" | "clock">,
  id: TaskId,
  which: "any" | "last" = "any",
): Change {
  const { promise, resolve } = Promise.withResolvers<void>();
  let unsubscribe: (() => void) | undefined = feed.subscribe(id, (isOver) => {
    if (isOver || which === "any") resolve();
    if (isOver) leaveFeed();
  });
  const leaveFeed = () => {
    unsubscribe?.();
    unsubscribe = undefined;
  };
  let leave = () => {};
  return {
    within(ms, ...signals) {
      const onAbort = () => resolve();
      if (signals.some(({ aborted }) => aborted)) resolve();
      // Each by itself: a signal made of several takes longer than all else here.
      for (const signal of signals) signal.addEventListener("abort", onAbort);
      const cancelTimer = clock.after(ms, resolve);
      leave = () => {
        cancelTimer();
        for (const signal of signals) signal.removeEventListener("abort", onAbort);
      };
      return promise;
    },
    stop() {
      leaveFeed();
      leave();
    },
  };
}

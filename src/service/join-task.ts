import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import type { ModelId, TaskId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import type { Micros } from "../domain/money/money.ts";
import type { IdempotencyClaim } from "../domain/task/idempotency.ts";
import { isTerminal, type NewTask, type TaskSummary } from "../domain/task/task.ts";
import { namesFrom } from "../domain/words/say.ts";
import type { CreateTask, CreateTaskRequest } from "./create-task.ts";
import type { CreatedTask } from "./created-task.ts";
import { createLeftTasks, type LeftTasksDeps } from "./left-tasks.ts";
import { awaitTask, type Change, nextChange, type ReadTaskDeps } from "./read-task.ts";
import { endedWithoutImages, goneOn, stopping, unread } from "./sync-errors.ts";

export interface JoinTaskDeps extends ReadTaskDeps, Omit<LeftTasksDeps, "tasks" | "clock"> {
  readonly createTask: CreateTask;
}

/** A create in the model's own words. Its caller waits for the task's end, and may leave before. */
export interface JoiningRequest extends Omit<CreateTaskRequest, "identity" | "syncScope"> {
  readonly model: Model;
  /** The caller's names for our fields. */
  readonly names: Readonly<Record<string, string>>;
  /** Two requests with an equal identity are the same request. */
  readonly identity: JsonObject;
}

/** A call whose task is accepted, or joined. */
export interface JoinedTask {
  readonly taskId: TaskId;
  readonly model: ModelId;
  /** The amount that this request holds; absent when it joined a task. */
  readonly held?: Micros | undefined;
  /** The idempotency key was used before. */
  readonly replayed: boolean;
  /** The stored task, if it is new. */
  readonly task?: NewTask | undefined;
  /**
   * Waits for the task's end, at most `waitMs` or until `signal` aborts. If the caller is `gone` by then, it counts as left.
   * @returns the task's state after the wait
   */
  wait(until: { waitMs: number; signal: AbortSignal; gone: AbortSignal }): Promise<TaskSummary>;
  /**
   * Waits for the task's end.
   * @param until.waitMs how long at most
   * @param until.gone aborts when the caller has disconnected
   * @param until.stopping aborts when the service stops
   * @returns the completed task
   * @throws AppError `sync_image_timeout`, and the task continues; for a failed task, the code of its failure
   */
  finish(until: { waitMs: number; gone: AbortSignal; stopping: AbortSignal }): Promise<TaskSummary>;
  /** The caller left before it had received all images. The next equal request joins the task. */
  leave(): void;
}

/**
 * Accepts a request as a task, or joins the task that the same request made before if its caller left, also before a restart. A
 * request with the same idempotency key also joins.
 * @throws AppError with the code that says why it was refused, in the caller's names for fields
 */
export type JoinTask = (request: JoiningRequest) => Promise<JoinedTask>;

export function createJoinTask(deps: JoinTaskDeps): JoinTask {
  const left = createLeftTasks(deps);
  return async (request) => {
    const { model, names, principal, endpoint, idempotencyKey } = request;
    // Its files still exist. An idempotency key already says which requests are the same.
    const scope = idempotencyKey === undefined ? await left.scopeOf(request) : undefined;
    const use =
      idempotencyKey === undefined ? undefined : { keyId: principal.keyId, endpoint, key: idempotencyKey };
    const call = ({ taskId, held, replayed, task }: Joined, watched?: Change): JoinedTask => {
      const end = once(watched);
      const leave = () => {
        if (scope !== undefined) left.add(scope, taskId);
      };
      return {
        taskId,
        model: model.id,
        held: replayed ? undefined : held,
        replayed,
        task,
        wait: async ({ gone, signal, waitMs }) => {
          const over = scope === undefined ? undefined : deps.equalCalls?.enter(scope);
          try {
            const until = { waitMs, signals: [signal], end: end(), leave };
            return await awaitOrLeave(deps, principal, { id: taskId, kind: model.kind, ...until });
          } finally {
            // This comes first, because a waiting equal call looks for tasks that were left.
            if (gone.aborted) leave();
            over?.();
          }
        },
        finish: (until) => finish(deps, principal, { taskId, model, leave, use, end: end() }, until),
        leave,
      };
    };
    const adopted = scope === undefined ? undefined : await left.find(scope);
    if (adopted !== undefined) return call({ taskId: adopted.id, replayed: false });
    try {
      return call(...(await createWatched(deps, { ...request, syncScope: scope })));
    } catch (error) {
      throw error instanceof AppError ? error.renamed(namesFrom(names)) : error;
    }
  };
}

/** Creates a task, whose end is watched from before it is stored. Of one that is not new, nothing is watched. */
async function createWatched(
  deps: JoinTaskDeps,
  request: CreateTaskRequest,
): Promise<[created: CreatedTask, end: Change | undefined]> {
  let end: Change | undefined;
  let isNew = false;
  const onNew = (id: TaskId) => {
    end = nextChange(deps, id, "last");
  };
  try {
    const created = await deps.createTask({ ...request, onNew });
    isNew = !created.replayed;
    return [created, isNew ? end : undefined];
  } finally {
    if (!isNew) end?.stop();
  }
}

/** Waits for a task. A caller who is not told how it is, because the store cannot be read, counts as left. */
async function awaitOrLeave(
  deps: JoinTaskDeps,
  principal: Principal,
  { leave, ...query }: Parameters<typeof awaitTask>[2] & Pick<JoinedTask, "leave"> & { readonly id: TaskId },
): Promise<TaskSummary> {
  try {
    return await awaitTask(deps, principal, query);
  } catch (error) {
    leave();
    throw unread(query.id, error);
  }
}

/** Gives what is used up by its first use. */
function once<T>(value: T | undefined): () => T | undefined {
  return () => {
    const given = value;
    value = undefined;
    return given;
  };
}

/** A task that was created, or adopted. */
type Joined = Pick<JoinedTask, "taskId" | "held" | "replayed" | "task">;

type IdempotencyUse = Pick<IdempotencyClaim, "keyId" | "endpoint" | "key">;

async function finish(
  deps: JoinTaskDeps,
  principal: Principal,
  {
    taskId,
    model: { kind },
    leave,
    use,
    end,
  }: Pick<JoinedTask, "taskId" | "leave"> & {
    readonly model: Model;
    readonly use: IdempotencyUse | undefined;
    readonly end: Change | undefined;
  },
  until: { waitMs: number; gone: AbortSignal; stopping: AbortSignal },
): Promise<TaskSummary> {
  const { waitMs } = until;
  const signals = [until.gone, until.stopping];
  const task = await awaitOrLeave(deps, principal, { id: taskId, kind, waitMs, signals, end, leave });
  const isDelivered = isTerminal(task.status) && !until.gone.aborted;
  if (!isDelivered) leave();
  if (task.status === "completed") return task;
  if (isTerminal(task.status)) {
    // After an error, the key can be used again for the same request, or for a corrected one.
    if (use !== undefined) await deps.tasks.freeIdempotency(use, taskId);
    throw endedWithoutImages(task);
  }
  throw until.stopping.aborted ? stopping(taskId) : goneOn(taskId);
}

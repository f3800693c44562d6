import type { CreateTask, CreateTaskRequest } from "./create-task.ts";
import type { CreatedTask } from "./created-task.ts";
import { createLeftTasks, type LeftTasks, type LeftTasksDeps } from "./left-tasks.ts";

export interface CreateOrJoinDeps extends LeftTasksDeps {
  readonly createTask: CreateTask;
}

/**
 * Creates tasks for callers who do not wait for their ends. When a caller leaves before its answer, while a file is stored or a prompt
 * is checked say, its client often sends the request again by itself: the equal request then joins the task. Of a task that it joined,
 * `held` is what the task holds, or was charged. An idempotency key already says which requests are the same.
 */
export function createCreateOrJoin(deps: CreateOrJoinDeps): CreateTask {
  const left = createLeftTasks(deps);
  return (request) => {
    if (request.idempotencyKey !== undefined) return deps.createTask(request);
    // Files that came with the request may be gone once the task is made.
    if (left.mayBeAny() || request.inlineFiles !== undefined) return lookFirst(deps, left, request);
    return deps.createTask(request).then((created) => {
      if (request.gone?.().aborted) noteLeft(left, left.scopeOf(request), created);
      return created;
    });
  };
}

async function lookFirst(
  deps: CreateOrJoinDeps,
  left: LeftTasks,
  request: CreateTaskRequest,
): Promise<CreatedTask> {
  const scope = await left.scopeOf(request);
  const found = await left.find(scope);
  const created =
    found === undefined
      ? await deps.createTask(request)
      : { taskId: found.id, held: found.charged ?? found.held, replayed: false };
  if (request.gone?.().aborted) noteLeft(left, scope, created);
  return created;
}

function noteLeft(left: LeftTasks, scope: string | Promise<string>, { taskId }: CreatedTask): void {
  void Promise.resolve(scope).then((known) => left.add(known, taskId));
}

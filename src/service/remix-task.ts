import { AppError, invalid } from "../domain/errors.ts";
import type { TaskKind } from "../domain/task/request.ts";
import { callbackLike } from "./asked-callback.ts";
import { createFrom } from "./create-from.ts";
import type { CreatedTask } from "./created-task.ts";
import {
  bodyOf,
  findOwnStory,
  hasPaintedMask,
  mostHops,
  type RetryRequest,
  type RetryTaskDeps,
} from "./retry-task.ts";

/** Who requests a remix, and how it is sent. */
export interface RemixRequest extends RetryRequest {
  /** What the task has to be of: one of another kind is not there. */
  readonly kind: TaskKind;
  /** Replaces the prompt of the task. */
  readonly prompt: string;
  /** The scope of its idempotency key. */
  readonly endpoint: string;
}

/**
 * Creates a task like a completed one of the caller's account, of the same model, parameters and files, with another prompt.
 * Its request goes through the create again, with today's price and limits.
 * @throws AppError `task_not_found`; `permission_denied` if the key may not create this kind; `invalid_request` if the task is
 * not completed; and whatever the create throws
 */
export async function remixTask(
  deps: RetryTaskDeps,
  { id, kind, prompt, ...request }: RemixRequest,
): Promise<CreatedTask> {
  // A task's request never changes, so its id stands for the rest of the body.
  const asked = { ...request, identity: { remix_of: id, prompt } };
  return createFrom(deps.createTask, asked, async () => {
    const story = await findOwnStory(deps, request.principal, id);
    const { task } = story;
    if (task.kind !== kind) throw new AppError("task_not_found", { kind: "task_unknown" });
    if (task.status !== "completed")
      throw invalid({ kind: "task_not_completed", field: "task_id", status: task.status });
    return {
      kind,
      body: { ...(await bodyOf(deps, story, request.origin)), prompt },
      callback: callbackLike(task),
      hops: mostHops(request.hops, task.request.hops),
      hasPaintedMasks: hasPaintedMask(task),
      parent: { id: task.id, relation: "remix" },
    };
  });
}

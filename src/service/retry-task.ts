import type { Principal } from "../domain/access/account.ts";
import { allowsFeature } from "../domain/access/permissions.ts";
import { AppError, invalid } from "../domain/errors.ts";
import { isId, type TaskId } from "../domain/ids.ts";
import { type Json, type JsonObject, propertyOf } from "../domain/json.ts";
import { type Asset, assetPath } from "../domain/media/asset.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { MediaInput } from "../domain/task/request.ts";
import type { TaskStory } from "../domain/task/story.ts";
import { isTerminal } from "../domain/task/task.ts";
import { callbackLike } from "./asked-callback.ts";
import { createFrom } from "./create-from.ts";
import type { CreateTask, CreateTaskRequest } from "./create-task.ts";
import type { CreatedTask } from "./created-task.ts";

export interface RetryTaskDeps {
  readonly tasks: Pick<TaskStore, "story" | "summary">;
  readonly catalog: Pick<Catalog, "find">;
  readonly createTask: CreateTask;
}

/** Who requests a retry, and how it is sent. */
export interface RetryRequest
  extends Pick<
    CreateTaskRequest,
    "principal" | "requestId" | "origin" | "hops" | "idempotencyKey" | "routing" | "gone" | "trace"
  > {
  /** Id of the task to retry, as given. */
  readonly id: string;
}

/**
 * Creates a task like one of the caller's account that has ended: its request goes through the create again, with today's price
 * and limits and with the files that are still stored.
 * @throws AppError `task_not_found`; `permission_denied` if the key may not create this kind; `task_not_retryable` if the task
 * has not ended; and whatever the create throws
 */
export async function retryTask(
  deps: RetryTaskDeps,
  { id, ...request }: RetryRequest,
): Promise<CreatedTask & { readonly retryOf: TaskId }> {
  // A task's request never changes, so its id stands for the body.
  const asked = { ...request, identity: { retry_of: id }, endpoint: `POST /v1/tasks/${id}/retry` };
  const created = await createFrom(deps.createTask, asked, async () => {
    const story = await findOwnStory(deps, request.principal, id);
    const { task } = story;
    if (!isTerminal(task.status)) {
      const facts = { kind: "task_live", status: task.status } as const;
      throw new AppError("task_not_retryable", facts, { shouldRetry: false });
    }
    return {
      kind: task.kind,
      body: await bodyOf(deps, story, request.origin),
      callback: callbackLike(task),
      hops: mostHops(request.hops, task.request.hops),
      hasPaintedMasks: hasPaintedMask(task),
      resultType: task.request.resultType,
      parent: { id: task.id, relation: "retry" },
    };
  });
  return { ...created, retryOf: sourceId(id) };
}

/**
 * Whether the mask of a task is read as painted again. If a task ended before its mask was fetched, it knows no more about the mask than
 * its create did. One that is stored was accepted: if nothing of it is transparent, it was painted so.
 */
export function hasPaintedMask({ request }: Pick<TaskStory["task"], "request">): boolean {
  return request.inputs.some(
    ({ role, source, mayBePainted }) => role === "mask" && (source.kind === "asset" || mayBePainted === true),
  );
}

/** The id of a task that a create was made from. */
export function sourceId(id: string): TaskId {
  if (isId("task", id)) return id;
  throw new Error("A task was made from none.");
}

/**
 * Everything that is stored about a task of the caller's account, to create a similar one.
 * @throws AppError `task_not_found`; `permission_denied` if the key may not create this kind
 */
export async function findOwnStory(
  deps: Pick<RetryTaskDeps, "tasks">,
  principal: Principal,
  id: string,
): Promise<TaskStory> {
  const story = isId("task", id) ? await deps.tasks.story(id) : undefined;
  if (story === undefined || story.task.accountId !== principal.accountId)
    throw new AppError("task_not_found", { kind: "task_unknown" });
  const feature = `${story.task.kind}s` as const;
  if (!allowsFeature(principal.policy, feature))
    throw new AppError("permission_denied", { kind: "feature_forbidden", feature });
  return story;
}

/** A body that says what the task's create said, with addresses of this service for its files. */
export async function bodyOf(
  deps: Pick<RetryTaskDeps, "tasks" | "catalog">,
  { task, inputs }: TaskStory,
  origin: string,
): Promise<JsonObject> {
  const { prompt, n, parameters } = task.request;
  const model = deps.catalog.find(task.model);
  const hasCount = model !== undefined && propertyOf(model.schema, "n") !== undefined;
  return {
    model: task.model,
    ...parameters,
    ...(await mediaOf(deps, { task, inputs }, origin)),
    ...(prompt !== undefined && { prompt }),
    ...(hasCount && { n }),
    ...(task.request.retainSec !== undefined && { retain_seconds: task.request.retainSec }),
    ...(task.callbackUrl !== undefined && !task.callbackTerms && { callback_url: task.callbackUrl }),
  };
}

/** The fields that name the inputs: a single field, the entries of a list, or the task whose result an input is. */
async function mediaOf(
  { tasks }: Pick<RetryTaskDeps, "tasks">,
  { task, inputs }: Pick<TaskStory, "task" | "inputs">,
  origin: string,
): Promise<JsonObject> {
  const fields: Record<string, Json> = {};
  for (const input of task.request.inputs) {
    const { param, source } = input;
    const asset = source.kind === "asset" ? inputs.find(({ id }) => id === source.assetId) : undefined;
    const [, list] = /^(.+)\[\d+\]$/.exec(param) ?? [];
    if (param === "task_id" && source.kind === "asset") {
      const made = source.result ?? (await resultOf(tasks, asset));
      if (made === undefined) throw invalid({ kind: "stored_file_gone", field: param });
      fields.task_id = made.taskId;
      fields.index = made.index;
    } else if (list === undefined) {
      fields[param] = addressOf(input, asset, origin);
    } else {
      const before = fields[list];
      fields[list] = [...(Array.isArray(before) ? before : []), addressOf(input, asset, origin)];
    }
  }
  return fields;
}

/** For an input that shares its file with another task's result, as tasks of earlier versions did: the result that it is. */
async function resultOf(tasks: RetryTaskDeps["tasks"], asset: Asset | undefined) {
  const made = asset && (await tasks.summary(asset.taskId));
  return made && { taskId: made.id, index: made.results.findIndex(({ assetId }) => assetId === asset.id) };
}

function addressOf({ param, source }: MediaInput, asset: Asset | undefined, origin: string): string {
  if (source.kind === "url") return source.url;
  if (asset === undefined) throw invalid({ kind: "stored_file_gone", field: param });
  return origin + assetPath(asset);
}

/** Of its two ways to this instance, the longer one counts. */
export function mostHops(now: number | undefined, before: number | undefined): number | undefined {
  return now === undefined && before === undefined ? undefined : Math.max(now ?? 0, before ?? 0);
}

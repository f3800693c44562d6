import type { Principal } from "../domain/access/account.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { TaskId } from "../domain/ids.ts";
import { type Json, type JsonObject, propertyOf } from "../domain/json.ts";
import { assetPath } from "../domain/media/asset.ts";
import type { FollowUp } from "../domain/model/follow-up.ts";
import type { Model } from "../domain/model/model.ts";
import { isRehearsal, sourceField } from "../domain/model/source-field.ts";
import type { Micros } from "../domain/money/money.ts";
import type { Task } from "../domain/task/task.ts";
import { createFrom } from "./create-from.ts";
import type { CreatedTask } from "./created-task.ts";
import { type PriceDeps, priceTerms } from "./price-terms.ts";
import { priceRequest } from "./priced-request.ts";
import { listModels, type ModelDeps, readModel } from "./read-model.ts";
import { findOwnStory, mostHops, type RetryRequest, type RetryTaskDeps, sourceId } from "./retry-task.ts";

export type FollowUpDeps = RetryTaskDeps & ModelDeps & PriceDeps;

export interface FollowUpRequest extends RetryRequest {
  readonly followUp: FollowUp;
  /** `model`, `index` of the result, and fields of the model. The task's prompt is used unless another is given. */
  readonly body: JsonObject;
}

export interface FollowedUp extends CreatedTask {
  readonly of: TaskId;
  /** Absent if a repeated request made a task that is deleted, and its source is, too. */
  readonly model?: Model["id"] | undefined;
}

/** Most models that a message lists. */
const NAMED = 5;

/**
 * Creates a task that continues a video of the caller's account, or enlarges a result of the account. The new task gets its own
 * copy of the result. The model is the named one; else the task's own if it can do this; else, to enlarge, the cheapest that
 * can do this request. Only rehearsals follow rehearsals, and rehearsals follow nothing else.
 * @throws AppError `task_not_found`; `permission_denied`; `invalid_request` if the task has no such result, if the model cannot
 * do this, or if no model can; whatever the create throws
 */
export async function followUpTask(
  deps: FollowUpDeps,
  { id, followUp, body: given, ...request }: FollowUpRequest,
): Promise<FollowedUp> {
  const { model: named, index, ...fields } = given;
  let chosen: Model | undefined;
  const asked = {
    ...request,
    identity: { [followUp]: id, body: given },
    endpoint: `POST /v1/tasks/${id}/${followUp}`,
  };
  const created = await createFrom(deps.createTask, asked, async () => {
    const { task } = await findOwnStory(deps, request.principal, id);
    if (followUp === "extend" && task.kind !== "video")
      throw invalid({ kind: "follow_up_of_image", task: task.id });
    // The schema of the request has checked that it is an integer.
    const url = request.origin + pathOfResult(task, index as number | undefined);
    const bodyFor = (model: Model) => bodyOf(model, { followUp, task, url, fields });
    const model = chooseModel(deps, request.principal, { followUp, task, named, bodyFor });
    chosen = model;
    return {
      kind: model.kind,
      body: bodyFor(model),
      hops: mostHops(request.hops, task.request.hops),
      parent: { id: task.id, relation: followUp },
    };
  });
  // Of a repeated request, the model may be another one today.
  const earlier = created.replayed ? (await deps.tasks.summary(created.taskId))?.model : undefined;
  return { ...created, of: sourceId(id), model: earlier ?? chosen?.id };
}

/**
 * The path of a result.
 * @param index of the result; an integer
 * @throws AppError naming `task_id` if the task is not completed or its files were removed, and `index` if there is no such result
 */
export function pathOfResult(task: Task, index = 0): string {
  if (task.status !== "completed")
    throw invalid({ kind: "task_not_completed", field: "task_id", status: task.status });
  const result = task.results[index];
  if (result === undefined)
    throw invalid({ kind: "result_absent", field: "index", results: task.results.length, given: index });
  refuseFileless(task, "task_id");
  return assetPath({ id: result.assetId, type: result.type });
}

/** @throws AppError naming the field by which a task was named, if its files were removed */
export function refuseFileless({ filesRemovedAt }: Pick<Task, "filesRemovedAt">, field: string): void {
  if (filesRemovedAt !== undefined)
    throw invalid({ kind: "task_files_gone", field, removedAt: filesRemovedAt });
}

/**
 * The create body for a model: the fields that request the follow-up, the task's prompt if the model takes one, the given
 * fields, and the result.
 */
function bodyOf(
  model: Model,
  { followUp, task, url, fields }: { followUp: FollowUp; task: Task; url: string; fields: JsonObject },
): JsonObject {
  const field = sourceField(model.mediaFields, followUp, model.kind);
  if (field === undefined) throw new Error(`${model.id} has no field for an earlier result.`);
  if (fields[field.name] !== undefined) throw invalid({ kind: "follow_up_source", field: field.name });
  const { prompt } = task.request;
  const takesPrompt = prompt !== undefined && propertyOf(model.schema, "prompt") !== undefined;
  const isList = propertyOf(model.schema, field.name)?.type === "array";
  return {
    model: model.id,
    ...model.followUps?.[followUp],
    ...(takesPrompt && { prompt }),
    ...fields,
    [field.name]: isList ? [url] : url,
  };
}

interface Choice {
  readonly followUp: FollowUp;
  readonly task: Task;
  /** The model that the request names. */
  readonly named: Json | undefined;
  readonly bodyFor: (model: Model) => JsonObject;
}

function chooseModel(
  deps: FollowUpDeps,
  principal: Principal,
  { followUp, task, named, bodyFor }: Choice,
): Model {
  const able = listModels(deps, principal).filter(
    (model) => model.kind === task.kind && model.followUps?.[followUp] !== undefined,
  );
  if (named !== undefined) {
    const model = readModel(deps, principal, named);
    if (able.includes(model)) return model;
    throw unable(able, followUp, model.id);
  }
  const own = able.find((model) => model.id === task.model);
  if (own !== undefined) return own;
  if (followUp === "extend") throw unable(able, followUp, task.model);
  const made = deps.catalog.all().find((model) => model.id === task.model);
  const wasRehearsal = made !== undefined && isRehearsal(made);
  const alike = able.filter((model) => isRehearsal(model) === wasRehearsal);
  const found = alike.map((model) => priced(deps, principal, model, bodyFor(model)));
  const [first, ...others] = found.filter((each) => each !== undefined && "most" in each);
  // When every model refuses the fields that were given, a model is not what is missing.
  const refused = found.find((each) => each !== undefined && "refusal" in each);
  if (first === undefined) throw refused?.refusal ?? unable(able, followUp);
  return others.reduce((best, each) => (each.most < best.most ? each : best), first).model;
}

/** A model that cannot do what is asked, or that no model was found which can; `able` are those that the caller may name. */
export function unable(able: readonly Model[], followUp: FollowUp | "edit", model?: string): AppError {
  const named = able.slice(0, NAMED).map(({ id }) => id);
  return invalid({ kind: "follow_up_unable", field: "model", model, followUp, able: named });
}

/** The price of a body, or why the model refuses it; undefined if it needs more than the body has, or has no price. */
function priced(
  deps: FollowUpDeps,
  principal: Principal,
  model: Model,
  body: JsonObject,
): { model: Model; most: Micros } | { refusal: AppError } | undefined {
  try {
    const terms = priceTerms(deps, principal, model);
    const { forecast, missing } = priceRequest(deps.catalog, model, { body, names: {} }, terms);
    return forecast.kind === "priced" && missing.length === 0 ? { model, most: forecast.most } : undefined;
  } catch (error) {
    if (error instanceof AppError) return { refusal: error };
    throw error;
  }
}

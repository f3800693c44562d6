import { invalid, mustBe } from "../../../domain/errors.ts";
import { isId } from "../../../domain/ids.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import { assetPath } from "../../../domain/media/asset.ts";
import type { Model } from "../../../domain/model/model.ts";
import { refuseFileless } from "../../../service/follow-up-task.ts";
import { readTask } from "../../../service/read-task.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { McpDeps } from "./deps.ts";

/** What every field for media takes, for its description. */
export const MEDIA_FORMS =
  "An https URL, a base64 data URI, the id of an uploaded file (file_…), or the task_id of an earlier task of yours (its first result; task_id#1 is the second).";

const RESULT = /^(task_[0-9a-z]{26})(?:#(\d{1,3}))?$/;

/**
 * The media fields of a body, with results of the caller's earlier tasks by their addresses here.
 * @throws AppError naming the field, for a task that has no such result
 */
export async function withEarlierResults(
  deps: Pick<McpDeps, "tasks">,
  exchange: KeyedExchange,
  model: Model,
  body: JsonObject,
): Promise<JsonObject> {
  const resolved: Record<string, Json | undefined> = { ...body };
  for (const { name } of model.mediaFields) {
    const value = body[name];
    if (Array.isArray(value)) {
      resolved[name] = await Promise.all(
        value.map((each, i) => addressOf(deps, exchange, `${name}[${i}]`, each)),
      );
    } else if (value !== undefined) {
      resolved[name] = await addressOf(deps, exchange, name, value);
    }
  }
  return resolved;
}

async function addressOf(
  deps: Pick<McpDeps, "tasks">,
  { principal, origin }: KeyedExchange,
  field: string,
  value: Json,
): Promise<Json> {
  const [, id, place = "0"] = typeof value === "string" ? (RESULT.exec(value) ?? []) : [];
  if (id === undefined || !isId("task", id)) return value;
  const task = await readTask(deps, principal, id);
  const { status, results } = task;
  if (status !== "completed") throw invalid({ kind: "task_not_completed", field, status });
  const result = results[Number(place)];
  if (result === undefined)
    throw mustBe(field, { rule: `name a result of the task, #0 to #${results.length - 1}` }, { json: value });
  refuseFileless(task, field);
  return origin + assetPath({ id: result.assetId, type: result.type });
}

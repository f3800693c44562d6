import type { Json, JsonObject } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import type { MediaInput } from "../domain/task/request.ts";

/**
 * The inputs that a body names, in the order of the model's fields. Mode, route and price depend on them. Their content is not
 * read, and their addresses are empty.
 *
 * @param body already accepted by the model's schema
 * @param missing fields to count as given once
 */
export function namedInputs(model: Model, body: JsonObject, missing: readonly string[] = []): MediaInput[] {
  const isThere = (name: string) => missing.includes(name) || Object.hasOwn(body, name);
  const inputs: MediaInput[] = [];
  // Every create comes by, and most have none.
  for (const { role, name } of model.mediaFields) {
    if (!isThere(name)) continue;
    for (const param of paramsOf(name, body[name])) inputs.push({ role, param, source: UNREAD });
  }
  if (model.resultField !== undefined && isThere("task_id"))
    inputs.push({ role: model.resultField.role, param: "task_id", source: UNREAD });
  return inputs;
}

const UNREAD = { kind: "url", url: "" } as const;

function paramsOf(name: string, value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map((_, i) => `${name}[${i}]`) : [name];
}

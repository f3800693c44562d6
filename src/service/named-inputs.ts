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
  const named = model.mediaFields.filter((field) => isThere(field.name));
  const fields = named.flatMap(({ role, name }) =>
    paramsOf(name, body[name]).map((param) => ({ role, param })),
  );
  if (model.resultField !== undefined && isThere("task_id"))
    fields.push({ role: model.resultField.role, param: "task_id" });
  return fields.map((field) => ({ ...field, source: { kind: "url", url: "" } }));
}

function paramsOf(name: string, value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map((_, i) => `${name}[${i}]`) : [name];
}

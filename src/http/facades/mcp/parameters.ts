import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";

/** Fields that tools have in another form, or that mean nothing to an agent. A model that has them takes them nevertheless. */
const LEFT_OUT = new Set([
  ...["model", "callback_url", "retain_seconds", "sandbox", "partial_images"],
  // Any field for media takes the task_id of an earlier task.
  ...["task_id", "index"],
]);

/** How many models a description names that take a parameter. */
const NAMED = 4;

/** What can be merged, and survives only where every model has it. Everything else of a property stays with its only model. */
const LEAST = ["minimum", "minLength", "minItems"];
const MOST = ["maximum", "maxLength", "maxItems"];

interface Use {
  readonly model: Model;
  readonly schema: JsonObject;
}

/**
 * The parameters that models take, as properties of one JSON Schema: each as wide as the widest of them, because the agent chooses the
 * model with the same call. What a single model takes of it, that model's own schema says, and the refusal of a call.
 * @param isMedia whether fields that carry media are among them
 */
export function unionOfParameters(
  models: readonly Model[],
  isMedia: boolean,
): { readonly properties: JsonObject; readonly required: readonly string[] } {
  const uses = new Map<string, Use[]>();
  for (const model of models) {
    const media = new Set(model.mediaFields.map(({ name }) => name));
    const { properties } = model.schema;
    for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
      if (LEFT_OUT.has(name) || (!isMedia && media.has(name)) || !isJsonObject(schema)) continue;
      uses.set(name, [...(uses.get(name) ?? []), { model, schema }]);
    }
  }
  const properties = Object.fromEntries(
    [...uses].map(([name, given]) => [name, merged(given, models.length)] as const),
  );
  const required = Object.keys(properties).filter((name) => models.every((model) => needs(model, name)));
  return { properties, required };
}

function needs({ schema }: Model, name: string): boolean {
  return Array.isArray(schema.required) && schema.required.includes(name);
}

function merged(uses: readonly Use[], modelCount: number): JsonObject {
  const [first] = uses;
  if (first === undefined) return {};
  const schemas = uses.map(({ schema }) => schema);
  const description = [first.schema.description, takers(uses, modelCount)]
    .filter((each) => typeof each === "string" && each !== "")
    .join(" ");
  return { ...typeOf(schemas), ...limitsOf(schemas), ...choicesOf(schemas), description };
}

/** Which models take it, where not all do. */
function takers(uses: readonly Use[], modelCount: number): string {
  if (uses.length === modelCount) return "";
  if (uses.length > NAMED) return `(${uses.length} of ${modelCount} models take it.)`;
  return `(Only ${uses.map(({ model }) => model.id).join(", ")}.)`;
}

function typeOf(schemas: readonly JsonObject[]): JsonObject {
  const types = new Set(schemas.map(({ type }) => type));
  const [type] = types;
  if (types.size === 2 && types.has("integer") && types.has("number")) return { type: "number" };
  if (types.size !== 1 || typeof type !== "string") return {};
  if (type !== "array") return { type };
  return { type, items: itemsOf(schemas.map(({ items }) => items)) };
}

/** Readers of schemas want to be told what a list is of. */
function itemsOf(items: readonly (Json | undefined)[]): JsonObject {
  return typeOf(items.filter(isJsonObject));
}

function limitsOf(schemas: readonly JsonObject[]): JsonObject {
  const widest = (keyword: string, pick: (...values: number[]) => number) => {
    const values = schemas.map((schema) => schema[keyword]).filter((value) => typeof value === "number");
    return values.length === schemas.length ? [[keyword, pick(...values)] as const] : [];
  };
  return Object.fromEntries([
    ...LEAST.flatMap((keyword) => widest(keyword, Math.min)),
    ...MOST.flatMap((keyword) => widest(keyword, Math.max)),
  ]);
}

function choicesOf(schemas: readonly JsonObject[]): JsonObject {
  const all = schemas.map((schema) => schema.enum);
  const lists = all.filter((each): each is readonly Json[] => Array.isArray(each));
  const chosen = lists.length === schemas.length ? { enum: [...new Set(lists.flat())] } : {};
  const defaults = new Set(schemas.map((schema) => schema.default));
  const [only] = defaults;
  const examples = schemas.find((schema) => Array.isArray(schema.examples))?.examples;
  return {
    ...chosen,
    ...(defaults.size === 1 && only !== undefined && { default: only }),
    ...(lists.length === 0 && examples !== undefined && { examples }),
  };
}

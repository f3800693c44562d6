import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import type { MediaField } from "../domain/model/model.ts";
import shared from "./shared.yaml";

/** `schema` of a manifest: `required`, `properties` and rules over several of them. */
export interface SchemaForm {
  readonly required: readonly string[];
  readonly properties: { readonly [name: string]: JsonObject };
  readonly allOf?: readonly JsonObject[];
  readonly dependentRequired?: { readonly [name: string]: readonly string[] };
}

/** In every create body. A manifest names the other properties of `shared.yaml` that it uses. */
const EVERYWHERE = ["model", "callback_url", "retain_seconds"];
const MEDIA = "media";
/** The most outputs of a task where a manifest does not say. */
const MOST_OUTPUTS = 10;
const SHARED = shared as { readonly [name: string]: JsonObject };

/** Names that a manifest may have under `shared`. */
export function sharedNames(): string[] {
  return Object.keys(SHARED).filter((name) => name !== MEDIA);
}

/**
 * The JSON Schema of a create body: the manifest's properties and those of all models. It refuses unknown fields.
 *
 * @param names the manifest's `shared`, each one of `sharedNames`
 */
export function composeSchema(
  { required, properties: own, ...rules }: SchemaForm,
  names: readonly string[],
  media: readonly MediaField[],
): JsonObject {
  const properties: Record<string, Json> = { model: SHARED.model ?? {} };
  for (const [name, property] of Object.entries(own)) {
    properties[name] = media.some((field) => field.name === name) ? mediaProperty(property) : property;
  }
  for (const name of [...names, ...EVERYWHERE]) properties[name] ??= SHARED[name] ?? {};
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    required: ["model", ...required],
    properties,
    additionalProperties: false,
    ...rules,
  };
}

/**
 * The same schema with the bounds of `n` that a manifest leaves open. A number of outputs below one has no price, and one of millions
 * no end.
 */
export function withBoundedCount(schema: JsonObject): JsonObject {
  const own = propertyOf(schema, "n");
  if (own === undefined || own.enum !== undefined || own.const !== undefined) return schema;
  const { type = "integer", minimum = 1, exclusiveMaximum, default: usual } = own;
  if (![type].flat().some((each) => each === "integer" || each === "number")) return schema;
  const most = typeof usual === "number" ? Math.max(MOST_OUTPUTS, usual) : MOST_OUTPUTS;
  const n = {
    ...own,
    type,
    minimum: typeof minimum === "number" ? Math.max(1, minimum) : minimum,
    ...(exclusiveMaximum === undefined && { maximum: own.maximum ?? most }),
  };
  return { ...schema, properties: { ...(schema.properties as JsonObject), n } };
}

/** Whether the schema of a create body has a property of this name. */
export function hasProperty(schema: JsonObject, name: string): boolean {
  return isJsonObject(schema.properties) && Object.hasOwn(schema.properties, name);
}

/** The JSON Schema of one property of a create body. */
export function propertyOf(schema: JsonObject, name: string): JsonObject | undefined {
  const property = isJsonObject(schema.properties) ? schema.properties[name] : undefined;
  return isJsonObject(property) ? property : undefined;
}

function mediaProperty(own: JsonObject): JsonObject {
  const source = SHARED[MEDIA] ?? {};
  return own.type === "array" ? { ...own, items: source } : { ...source, ...own };
}

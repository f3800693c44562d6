import type { Json, JsonObject } from "../../domain/json.ts";

/**
 * A JSON Schema (2020-12). A schema with a `title` in PascalCase becomes a component of the published document with this name.
 */
export type Schema = JsonObject;
export type Properties = Readonly<Record<string, Schema>>;

/** Schema keywords, and which of an object's properties may be absent. */
type More = JsonObject & { readonly optional?: readonly string[] };

/** An object with only these properties. Answers are closed, because anything else in an answer would be a leak. */
export function closed(properties: Properties, { optional = [], ...rest }: More = {}): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return {
    type: "object",
    ...(required.length === 0 ? {} : { required }),
    properties,
    additionalProperties: false,
    ...rest,
  };
}

/** A closed object that is a component of the published document. */
export const component = (title: string, properties: Properties, more?: More): Schema => ({
  title,
  ...closed(properties, more),
});

/** A closed object that must have the named properties and may have the others. */
export const requiring = (required: readonly string[], properties: Properties): Schema =>
  closed(properties, { optional: Object.keys(properties).filter((name) => !required.includes(name)) });

/** A closed object all of whose properties may be absent. */
export const optional = (properties: Properties, more?: JsonObject): Schema =>
  closed(properties, { ...more, optional: Object.keys(properties) });

export const list = (items: Schema, more?: JsonObject): Schema => ({ type: "array", items, ...more });

type Described = (description: string, more?: JsonObject) => Schema;
export const text: Described = (description, more) => ({ type: "string", description, ...more });
export const integer: Described = (description, more) => ({ type: "integer", description, ...more });
export const flag: Described = (description, more) => ({ type: "boolean", description, ...more });

/** The same schema, or null. */
export function nullable(schema: Schema): Schema {
  const { type, ...rest } = schema;
  // A component keeps its name and its own type.
  if (typeof schema.title === "string" || typeof type !== "string")
    return { anyOf: [schema, { type: "null" }] };
  const withNull = ["enum", "x-extensible-enum"].flatMap((keyword): [string, Json][] => {
    const values = schema[keyword];
    return Array.isArray(values) ? [[keyword, [...values, null]]] : [];
  });
  return { type: [type, "null"], ...rest, ...Object.fromEntries(withNull) };
}

/** A text with known values, to which later versions may add: clients take unknown ones (docs/api.md 1.5). */
export function openEnum(values: readonly string[], description: string): Schema {
  return { type: "string", description, examples: [values[0] ?? ""], "x-extensible-enum": values };
}

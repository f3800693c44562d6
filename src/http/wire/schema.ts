import type { Json, JsonObject } from "../../domain/json.ts";
import type { Schema } from "../openapi/contract.ts";

/** Which of an object's properties may be absent; all, or those named. */
type Optional = "all" | readonly string[];

/** An object with these properties only. Anything else in an answer would be a leak, so answers are closed. */
export function closed(
  properties: Readonly<Record<string, Schema>>,
  more: JsonObject & { readonly optional?: Optional } = {},
): Schema {
  const { optional = [], ...rest } = more;
  const required =
    optional === "all" ? [] : Object.keys(properties).filter((name) => !optional.includes(name));
  return {
    type: "object",
    ...(required.length === 0 ? {} : { required }),
    properties,
    additionalProperties: false,
    ...rest,
  };
}

export function list(items: Schema, more: JsonObject = {}): Schema {
  return { type: "array", items, ...more };
}

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

export function text(description: string, more: JsonObject = {}): Schema {
  return { type: "string", description, ...more };
}

export function integer(description: string, more: JsonObject = {}): Schema {
  return { type: "integer", description, ...more };
}

export function flag(description: string, more: JsonObject = {}): Schema {
  return { type: "boolean", description, ...more };
}

/** An identifier with its prefix. */
export function idOf(prefix: string, description: string): Schema {
  return text(description, { pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$` });
}

/** A decimal string with six places. */
export function amount(description: string): Schema {
  return text(description, { pattern: "^-?[0-9]+\\.[0-9]{6}$", examples: ["0.040000"] });
}

export function unixSeconds(description: string): Schema {
  return integer(`${description} Unix seconds.`, { minimum: 0 });
}

export const CURRENCY_SCHEMA: Schema = text("Of every amount beside it.", { const: "USD" });

/** docs/api.md 3.1: what every answer of the asynchronous endpoints that is no error looks like. */
export function envelope(data: Schema): Schema {
  return closed({
    code: integer("The HTTP status.", { const: 200 }),
    message: text("Always `success`.", { const: "success" }),
    data,
  });
}

/** A text with known values, to which later versions may add: clients take unknown ones (docs/api.md 1.5). */
export function openEnum(values: readonly string[], description: string): Schema {
  return { type: "string", description, examples: [values[0] ?? ""], "x-extensible-enum": values };
}

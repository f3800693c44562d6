import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Schema } from "../wire/schema.ts";

const COMPONENT_TITLE = /^[A-Z][A-Za-z0-9]*$/;

/**
 * Collects the schemas and responses that parts of a document share, and refers to them. @param standIns schemas that replace
 * those with these titles
 */
export function createComponents(standIns: ReadonlyMap<string, Schema>) {
  const schemas = new Map<string, JsonObject>();
  const responses = new Map<string, JsonObject>();
  const sources = new Map<string, JsonObject>();

  const replaced = (value: Json | undefined): Json | undefined => {
    if (Array.isArray(value)) return value.map((each) => replaced(each) ?? null);
    if (!isJsonObject(value)) return value;
    const { title } = value;
    return typeof title === "string" && COMPONENT_TITLE.test(title)
      ? named(title, value)
      : membersReplaced(value);
  };
  const membersReplaced = (value: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaced(member)]));
  const named = (title: string, schema: JsonObject): JsonObject => {
    const known = sources.get(title);
    if (known === undefined) {
      sources.set(title, schema);
      schemas.set(title, membersReplaced(standIns.get(title) ?? schema));
    } else if (known !== schema) {
      throw new Error(`Two schemas are titled ${title}.`);
    }
    return referenceTo("schemas", title);
  };

  return {
    /** A schema itself, or its replacement. */
    meaning: (schema: Schema): Schema =>
      (typeof schema.title === "string" && standIns.get(schema.title)) || schema,
    /** The schema, with itself or every titled schema inside replaced by a reference. An object stays an object. */
    refer: (schema: Schema) => replaced(schema) as JsonObject,
    /** A reference to a response, built when it is first asked for. */
    response(name: string, build: () => JsonObject): JsonObject {
      if (!responses.has(name)) responses.set(name, build());
      return referenceTo("responses", name);
    },
    /** Adds a schema under a name that is no title. @returns a reference */
    add(name: string, schema: Schema): Schema {
      schemas.set(name, schema);
      return referenceTo("schemas", name);
    },
    all: () => ({ schemas: sorted(schemas), responses: sorted(responses) }),
  };
}
export type Components = ReturnType<typeof createComponents>;

export function referenceTo(group: string, name: string): JsonObject {
  return { $ref: `#/components/${group}/${name}` };
}

function sorted(members: ReadonlyMap<string, JsonObject>): JsonObject {
  return Object.fromEntries([...members].sort(([a], [b]) => (a < b ? -1 : 1)));
}

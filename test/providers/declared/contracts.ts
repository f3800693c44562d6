import { isJsonObject, type Json, type JsonObject } from "../../../src/domain/json.ts";
import type { Published } from "../../helpers/published.ts";

/** A request that arrived, as contracts describe them: the parts of a form by their names. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  readonly body: JsonObject;
}

/** What is wrong with a request by the contract that has its path. */
export function problemsOf(contracts: readonly Published[], { method, path, type, body }: Sent): string[] {
  if (contracts.some(({ isHere }) => !isHere)) return contracts.flatMap((each) => each.problems([], body));
  for (const contract of contracts) {
    const base = new URL(String(contract.at(["servers", "0", "url"]))).pathname.replace(/\/+$/, "");
    const below = path.startsWith(base) ? path.slice(base.length) : path;
    const paths = Object.keys(contract.at(["paths"]) as object);
    const place = paths
      .filter((each) => patternOf(each).test(below))
      .sort((a, b) => countOf(a) - countOf(b) || b.length - a.length)[0];
    if (place === undefined) continue;
    const at = ["paths", place, method, "requestBody", "content", type, "schema"];
    const schema = resolved(contract, contract.at(at), body);
    if (schema === undefined) return [`${method} ${below} takes no ${type}`];
    const isForm = type !== "application/json";
    const lists = isForm ? withLists(body, schema) : body;
    return [...contract.problems(at, lists, isForm), ...unknownFields(schema, body)];
  }
  return [`no contract has ${path}`];
}

const countOf = (path: string) => path.split("{").length;
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.+*?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+")}$`);
}

/** The schema of a body: through a reference, and the one of several that is for its model. */
function resolved(contract: Published, schema: unknown, body: JsonObject): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (typeof schema.$ref === "string")
    return resolved(contract, contract.at(schema.$ref.split("/").slice(1)), body);
  const variants = [schema.oneOf, schema.anyOf].find(Array.isArray) as JsonObject[] | undefined;
  if (variants === undefined || isJsonObject(schema.properties)) return schema;
  const own = variants.map((each) => resolved(contract, each, body) ?? {});
  return own.find((each) => propertiesOf(each).model?.const === body.model) ?? own[0];
}

/** Parts that are lists by the contract, also with one value. */
function withLists(body: JsonObject, schema: JsonObject): JsonObject {
  const isList = (name: string) => propertiesOf(schema)[name]?.type === "array";
  return Object.fromEntries(
    Object.entries(body).map(([name, value = null]): [string, Json] => [
      name,
      isList(name) && !Array.isArray(value) ? [value] : value,
    ]),
  );
}

/** Fields that no contract mentions are ignored by upstreams in silence, or refused. */
function unknownFields(schema: JsonObject, body: JsonObject, path = ""): string[] {
  const properties = propertiesOf(schema);
  if (Object.keys(properties).length === 0) return [];
  return Object.entries(body).flatMap(([name, value]) => {
    const property = properties[name];
    if (property === undefined) return [`${path}/${name} is no field of the contract`];
    return isJsonObject(value) ? unknownFields(property, value, `${path}/${name}`) : [];
  });
}

export function propertiesOf(schema: JsonObject): Readonly<Record<string, JsonObject>> {
  // The members of `properties` are schemas.
  return isJsonObject(schema.properties) ? (schema.properties as Record<string, JsonObject>) : {};
}

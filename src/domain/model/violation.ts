import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { suggest } from "../suggest.ts";
import type { Demand } from "../words/demand.ts";
import type { Given } from "../words/say.ts";
import type { Facts } from "../words/words.ts";

/** One violation of a JSON Schema, as the checker reports it. */
export interface Violation {
  /** JSON Pointer to the value at fault. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The value at fault. */
  readonly data?: unknown;
  /** The schema that has the keyword. */
  readonly parentSchema?: JsonObject | undefined;
}

/**
 * The first unknown field at any depth. Naming a misspelt field helps more than naming the field that is missing because of it.
 *
 * @param owner what the top-level fields belong to, `sandbox-image`
 */
export function unknownField(
  schema: JsonObject,
  value: unknown,
  owner: string,
  path = "",
): Facts | undefined {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!isJsonObject(items)) return undefined;
    return first(value, (entry, i) => unknownField(items, entry, owner, `${path}[${i}]`));
  }
  if (!isJsonObject(value) || !isJsonObject(schema.properties)) return undefined;
  const { properties } = schema;
  return first(Object.entries(value), ([name, member]) => {
    const field = join(path, name);
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property !== undefined) {
      return isJsonObject(property) ? unknownField(property, member, owner, field) : undefined;
    }
    if (schema.additionalProperties !== false) return undefined;
    const known = Object.keys(properties);
    const near = suggest(name, known);
    return {
      kind: "unknown_field",
      field,
      within: path === "" ? undefined : path,
      owner,
      near: near === undefined ? undefined : join(path, near),
      known,
    };
  });
}

/**
 * What a violation means: the field, what was given and what is allowed. A schema may use its own words: `x-must` completes
 * "<field> must …"; `x-rule` is the whole sentence, with `{a}` for a field and `{a|b}` for any of several; `x-param` is its field.
 *
 * @param owner what the top-level fields belong to, for messages that name it
 */
export function explain(violation: Violation, owner?: string): Facts {
  const { keyword, params } = violation;
  const schema = violation.parentSchema ?? {};
  const rule = text(schema["x-rule"]);
  if (rule !== undefined) return { kind: "rule", rule, field: text(schema["x-param"]) };
  const path = toPath(violation.instancePath);
  if (keyword === "required") {
    return { kind: "required", field: join(path, String(params.missingProperty)), by: owner };
  }
  if (keyword === "dependentRequired") {
    const field = join(path, String(params.property));
    return { kind: "only_with", field, needed: join(path, String(params.missingProperty)) };
  }
  const field = path === "" ? undefined : path;
  return { kind: "violation", field, must: demandOf(keyword, schema), given: givenOf(violation) };
}

function demandOf(keyword: string, schema: JsonObject): Demand {
  const rule = text(schema["x-must"]);
  if (rule !== undefined) return { rule };
  switch (keyword) {
    case "type":
      return { types: (Array.isArray(schema.type) ? schema.type : [schema.type]).map(String) };
    case "enum":
      return Array.isArray(schema.enum) ? { anyOf: schema.enum } : { keyword };
    case "const":
      return { equal: schema.const ?? null };
  }
  const counted = COUNTED.find(({ least, most }) => keyword === least || keyword === most);
  if (counted === undefined) return { keyword };
  const { many, least, most } = counted;
  return { many, least: count(schema[least]), most: count(schema[most]) };
}

/** What each pair of keywords that sets a minimum and a maximum counts. */
const COUNTED = [
  { many: "value", least: "minimum", most: "maximum" },
  { many: "characters", least: "minLength", most: "maxLength" },
  { many: "entries", least: "minItems", most: "maxItems" },
  { many: "fields", least: "minProperties", most: "maxProperties" },
] as const;

/** What was given, in few characters: a count if a count is wrong, else the value itself. */
function givenOf({ data, keyword }: Violation): Given {
  const isCounted = /^(min|max)(Length|Items|Properties)$/.test(keyword);
  // Counts code points, not UTF-16 units, as a person would.
  if (typeof data === "string") return isCounted ? [...data].length : data;
  if (Array.isArray(data)) return isCounted ? data.length : { a: "list" };
  if (isJsonObject(data)) return isCounted ? Object.keys(data).length : { a: "object" };
  return data as Given;
}

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function first<Entry>(
  entries: readonly Entry[],
  find: (entry: Entry, index: number) => Facts | undefined,
): Facts | undefined {
  // An iterator stops at the first entry with a finding.
  return entries
    .values()
    .map(find)
    .find((found) => found !== undefined);
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** `/image_urls/2` → `image_urls[2]`, `/sandbox/delay_ms` → `sandbox.delay_ms`. */
function toPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), "");
}

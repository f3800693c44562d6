import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { suggest } from "../suggest.ts";

/** One thing that a check against a JSON Schema found, as the checker tells it. */
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

/** What is wrong with a value, for its sender. `param` is the path of the field, `images[2].image_url`. */
export interface Problem {
  readonly message: string;
  readonly param?: string | undefined;
}

/** How much of what was given a message shows, in characters. */
const SHOWN = 80;

/**
 * The first field, at any depth, that a closed object of the schema does not have; a misspelt field says more than that the right
 * one is missing.
 *
 * @param owner whose fields those at the top are, `sandbox-image`
 */
export function unknownField(schema: JsonObject, value: JsonObject, owner: string): Problem | undefined {
  return unknownIn(schema, value, "", owner);
}

function unknownIn(schema: JsonObject, value: unknown, path: string, owner: string): Problem | undefined {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!isJsonObject(items)) return undefined;
    return first(value, (entry, i) => unknownIn(items, entry, `${path}[${i}]`, owner));
  }
  if (!isJsonObject(value) || !isJsonObject(schema.properties)) return undefined;
  const { properties } = schema;
  return first(Object.entries(value), ([name, member]) => {
    const param = join(path, name);
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) return isJsonObject(known) ? unknownIn(known, member, param, owner) : undefined;
    if (schema.additionalProperties !== false) return undefined;
    return unknownProblem(path, name, Object.keys(properties), owner);
  });
}

function unknownProblem(path: string, name: string, known: readonly string[], owner: string): Problem {
  const param = cut(join(path, name));
  const near = suggest(name, known);
  const hint =
    near === undefined
      ? `${path === "" ? owner : path} takes ${known.join(", ")}.`
      : `Did you mean "${join(path, near)}"?`;
  return { message: `Unknown field "${param}". ${hint}`, param };
}

/**
 * What a violation means: the field, what was given (cut at 80 characters) and what is allowed. A schema may say it in its own
 * words: `x-must` completes "<field> must …", `x-rule` is the whole sentence and `x-param` its field.
 *
 * @param owner whose fields those at the top are, where a message is to name it
 */
export function explain(violation: Violation, owner?: string): Problem {
  const schema = violation.parentSchema ?? {};
  const rule = text(schema["x-rule"]);
  if (rule !== undefined) return { message: rule, param: text(schema["x-param"]) };
  const path = toParam(violation.instancePath);
  if (violation.keyword === "required") {
    const missing = join(path, String(violation.params.missingProperty));
    return { message: `${missing} is required${owner === undefined ? "" : ` by ${owner}`}.`, param: missing };
  }
  if (violation.keyword === "dependentRequired") {
    const dependent = join(path, String(violation.params.property));
    const needed = join(path, String(violation.params.missingProperty));
    return { message: `${dependent} is valid only together with ${needed}.`, param: dependent };
  }
  const subject = path === "" ? "The body" : cut(path);
  return {
    message: `${subject} must ${demand(violation, schema)}; got ${given(violation)}.`,
    ...(path === "" ? {} : { param: cut(path) }),
  };
}

function demand({ keyword }: Violation, schema: JsonObject): string {
  const own = text(schema["x-must"]);
  if (own !== undefined) return own;
  switch (keyword) {
    case "type":
      return `be ${typeNames(schema.type)}`;
    case "enum":
      return `be one of ${list(schema.enum)}`;
    case "const":
      return `be ${JSON.stringify(schema.const)}`;
    case "minimum":
    case "maximum":
      return `be ${span(schema.minimum, schema.maximum)}`;
    case "minLength":
    case "maxLength":
      return `have ${span(schema.minLength, schema.maxLength)} characters`;
    case "minItems":
    case "maxItems":
      return `have ${span(schema.minItems, schema.maxItems)} entries`;
    case "minProperties":
    case "maxProperties":
      return `have ${span(schema.minProperties, schema.maxProperties)} fields`;
    case "uniqueItems":
      return "have no entry twice";
    default:
      return `be as its schema says (${keyword})`;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

function typeNames(type: Json | undefined): string {
  const types = Array.isArray(type) ? type : [type];
  return types.map((each) => TYPES[String(each)] ?? String(each)).join(" or ");
}

function span(least: Json | undefined, most: Json | undefined): string {
  if (most === undefined) return `at least ${least}`;
  return least === undefined ? `at most ${most}` : `${least} to ${most}`;
}

function list(values: Json | undefined): string {
  return Array.isArray(values)
    ? values.map((value) => JSON.stringify(value)).join(", ")
    : "the allowed values";
}

/** What was given, in few characters: counts where a count is at fault, else the value itself. */
function given({ data, keyword }: Violation): string {
  if (typeof data === "string") {
    if (keyword === "minLength" || keyword === "maxLength") return `${codePoints(data)}`;
    return JSON.stringify(cut(data));
  }
  if (Array.isArray(data))
    return keyword === "minItems" || keyword === "maxItems" ? `${data.length}` : "a list";
  if (typeof data !== "object" || data === null) return String(data);
  return keyword === "minProperties" || keyword === "maxProperties"
    ? `${Object.keys(data).length}`
    : "an object";
}

function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}

function cut(value: string): string {
  return value.length <= SHOWN ? value : `${value.slice(0, SHOWN).toWellFormed()}…`;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function first<Entry>(
  entries: readonly Entry[],
  find: (entry: Entry, index: number) => Problem | undefined,
): Problem | undefined {
  for (const [i, entry] of entries.entries()) {
    const found = find(entry, i);
    if (found !== undefined) return found;
  }
  return undefined;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** `/image_urls/2` → `image_urls[2]`, `/sandbox/delay_ms` → `sandbox.delay_ms`. */
function toParam(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), "");
}

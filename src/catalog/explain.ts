import type { ErrorObject } from "ajv/dist/2020.js";
import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import type { Model } from "../domain/model.ts";
import { suggest } from "../domain/suggest.ts";

/** What is wrong with a body, for its sender. */
export interface Problem {
  readonly message: string;
  readonly param?: string | undefined;
}

/** How much of what was given a message shows, in characters. */
const SHOWN = 80;

/** The first field the model does not have; a misspelt field says more than that the right one is missing. */
export function unknownField(model: Model, body: JsonObject): Problem | undefined {
  return unknownIn(model, model.schema, body, "");
}

function unknownIn(model: Model, schema: JsonObject, value: JsonObject, path: string): Problem | undefined {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  for (const [name, member] of Object.entries(value)) {
    const param = path === "" ? name : `${path}.${name}`;
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known === undefined) return unknownProblem(model, param, Object.keys(properties), path);
    if (!isJsonObject(known) || known.type !== "object" || !isJsonObject(member)) continue;
    const nested = unknownIn(model, known, member, param);
    if (nested !== undefined) return nested;
  }
  return undefined;
}

function unknownProblem(model: Model, param: string, known: readonly string[], path: string): Problem {
  const name = path === "" ? param : param.slice(path.length + 1);
  const near = suggest(name, known);
  const unknown = `Unknown field "${cut(param)}".`;
  if (near !== undefined)
    return {
      message: `${unknown} Did you mean "${path === "" ? near : `${path}.${near}`}"?`,
      param: cut(param),
    };
  return {
    message: `${unknown} ${path === "" ? model.id : path} takes ${known.join(", ")}.`,
    param: cut(param),
  };
}

/** Says what one error of the schema's check means: the field, what was given, what is allowed. */
export function explain(model: Model, error: ErrorObject): Problem {
  const schema = error.parentSchema ?? {};
  const rule = text(schema["x-rule"]);
  if (rule !== undefined) return { message: rule, param: text(schema["x-param"]) };
  const param = toParam(error.instancePath);
  if (error.keyword === "required") {
    const missing = join(param, String(error.params.missingProperty));
    return { message: `${missing} is required by ${model.id}.`, param: missing };
  }
  if (error.keyword === "dependentRequired") {
    const dependent = join(param, String(error.params.property));
    const needed = join(param, String(error.params.missingProperty));
    return { message: `${dependent} is valid only together with ${needed}.`, param: dependent };
  }
  return { message: `${param} must ${demand(error, schema)}; got ${given(error)}.`, param };
}

function demand(error: ErrorObject, schema: JsonObject): string {
  const own = text(schema["x-must"]);
  if (own !== undefined) return own;
  switch (error.keyword) {
    case "type":
      return `be ${TYPES[String(schema.type)] ?? String(schema.type)}`;
    case "enum":
      return `be one of ${list(schema.enum)}`;
    case "minimum":
    case "maximum":
      return `be ${span(schema.minimum, schema.maximum)}`;
    case "minLength":
    case "maxLength":
      return `have ${span(schema.minLength, schema.maxLength)} characters`;
    case "minItems":
    case "maxItems":
      return `have ${span(schema.minItems, schema.maxItems)} entries`;
    default:
      return `be as its schema says (${error.keyword})`;
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
function given(error: ErrorObject): string {
  const { data, keyword } = error;
  if (typeof data === "string") {
    if (keyword === "minLength" || keyword === "maxLength") return `${codePoints(data)}`;
    return JSON.stringify(cut(data));
  }
  if (Array.isArray(data))
    return keyword === "minItems" || keyword === "maxItems" ? `${data.length}` : "a list";
  return typeof data === "object" && data !== null ? "an object" : String(data);
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

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** `/image_urls/2` → `image_urls[2]`, `/sandbox/delay_ms` → `sandbox.delay_ms`. */
function toParam(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), "");
}

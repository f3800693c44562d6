import type { Ajv2020, AnySchemaObject, ValidateFunction } from "ajv/dist/2020.js";
import { AppError } from "../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { explain, unknownField } from "../../domain/model/violation.ts";

/** Words of our schemas that say how a violation reads, or belong to the published document. */
const ANNOTATIONS = ["x-must", "x-rule", "x-param", "x-extensible-enum"];

/** The credential may stand in any query; endpoints do not see it. */
const CREDENTIAL = "key";

let ajv: Ajv2020 | undefined;
const compiled = new WeakMap<JsonObject, ValidateFunction>();

/**
 * Checks a body against a JSON Schema (2020-12), compiled at its first use. The body is not changed: defaults are the reader's.
 *
 * @throws AppError `invalid_request` that names the field, what was given and what is allowed; for a field the schema does not have,
 *   the closest one it has
 */
export function check(schema: JsonObject, body: JsonObject): void {
  checkAs(schema, body, "The body");
}

/**
 * The parameters of a query as the schema's properties say: numbers as numbers, booleans as booleans. Parameters the schema does
 * not have are refused where it is closed (`additionalProperties: false`), else left out; `key` always is.
 *
 * @throws AppError `invalid_request`, as `check` does
 */
export function checkQuery(schema: JsonObject, query: URLSearchParams): JsonObject {
  const values: Record<string, Json> = {};
  for (const [name, value] of query) {
    const property = propertyOf(schema, name);
    if (name === CREDENTIAL || (property === undefined && schema.additionalProperties !== false)) continue;
    if (Object.hasOwn(values, name)) {
      throw new AppError("invalid_request", `${name.slice(0, 80)} is given twice.`, {
        param: name.slice(0, 80),
      });
    }
    // An own property whatever its name, `__proto__` included.
    Object.defineProperty(values, name, { value: readAs(property?.type, value), enumerable: true });
  }
  checkAs(schema, values, "This query");
  return values;
}

function checkAs(schema: JsonObject, value: JsonObject, owner: string): void {
  const isValid = validatorOf(schema);
  if (isValid(value)) return;
  // The last one is the rule itself; those before it say how its alternatives were missed.
  const violation = isValid.errors?.at(-1);
  const problem = unknownField(schema, value, owner) ?? (violation && explain(violation));
  throw new AppError("invalid_request", problem?.message ?? `${owner} does not fit its schema.`, {
    param: problem?.param,
  });
}

function validatorOf(schema: JsonObject): ValidateFunction {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  ajv ??= loadAjv();
  // A JSON Schema is a JSON object; only the mutability of the type differs.
  const fresh = ajv.compile(schema as AnySchemaObject);
  compiled.set(schema, fresh);
  return fresh;
}

/** Loading takes longer than everything else at start, and `check` is synchronous: hence `require`, at first use. */
function loadAjv(): Ajv2020 {
  const { Ajv2020 } = require("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const fresh = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    verbose: true,
    // Built-in schemas are checked against the meta-schema by a test.
    meta: false,
    validateSchema: false,
  });
  fresh.addFormat("uri", { type: "string", validate: (text: string) => URL.canParse(text) });
  for (const keyword of ANNOTATIONS) fresh.addKeyword({ keyword });
  return fresh;
}

function propertyOf(schema: JsonObject, name: string): JsonObject | undefined {
  const { properties } = schema;
  if (!isJsonObject(properties) || !Object.hasOwn(properties, name)) return undefined;
  const property = properties[name];
  return isJsonObject(property) ? property : undefined;
}

/** A query knows only text; what cannot be read stays text, so that the schema refuses it by its type. */
function readAs(type: Json | undefined, text: string): Json {
  if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

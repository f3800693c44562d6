import { invalid } from "../../domain/errors.ts";
import { type Json, type JsonObject, propertyOf, readScalar, setOwn } from "../../domain/json.ts";
import { explain, unknownField } from "../../domain/model/violation.ts";
import { createSchemaChecker } from "../../toolkit/json-schema.ts";

/** The annotations are words for violations, or belong to the published document. */
const checker = createSchemaChecker({ annotations: ["x-must", "x-rule", "x-param", "x-extensible-enum"] });

/** Any query may contain the credential; endpoints do not see it. */
const CREDENTIAL = "key";

/**
 * Checks a body against a JSON Schema (2020-12), compiled at its first use. Does not change the body or fill in defaults.
 *
 * @throws AppError `invalid_request` that names the field, what was given and what is allowed; for a field the schema does not have,
 *   the closest one it has
 */
export function check(schema: JsonObject, body: JsonObject): void {
  checkAs(schema, body, "The body");
}

/**
 * Reads the parameters of a query by the schema's types: numbers as numbers, booleans as booleans. A closed schema
 * (`additionalProperties: false`) refuses unknown parameters, others ignore them; `key` is always ignored.
 * @throws AppError `invalid_request`, like `check`
 */
export function checkQuery(schema: JsonObject, query: URLSearchParams): JsonObject {
  const values: Record<string, Json> = {};
  for (const [name, value] of query) {
    const property = propertyOf(schema, name);
    if (name === CREDENTIAL || (property === undefined && schema.additionalProperties !== false)) continue;
    if (Object.hasOwn(values, name)) throw invalid({ kind: "given_twice", field: name });
    // A query contains only text; the schema refuses what stays text.
    setOwn(values, name, readScalar(property?.type, value));
  }
  checkAs(schema, values, "This query");
  return values;
}

function checkAs(schema: JsonObject, value: JsonObject, owner: string): void {
  const violation = checker.violations(schema, value).at(-1);
  if (violation === undefined) return;
  throw invalid(unknownField(schema, value, owner) ?? explain(violation));
}

import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { explain, unknownField } from "../../src/domain/model/violation.ts";
import type { NameOf } from "../../src/domain/words/say.ts";
import { describe } from "../../src/domain/words/words.ts";
import { createSchemaChecker, type SchemaViolation } from "../../src/toolkit/json-schema.ts";
import { type Failure, usage } from "../failure.ts";

/** Words in models' schemas that check nothing. */
const ANNOTATIONS = ["x-must", "x-rule", "x-param", "x-extensible-enum"];

/**
 * Compares a create body with its model's schema before anything is sent. The server decides; anything that cannot be checked here
 * counts as valid.
 *
 * @param nameOf the flag that gives a field
 * @returns why the server would refuse it: the flag, what was given and what is allowed
 */
export function requestProblem(
  { id, schema }: { readonly id: string; readonly schema: unknown },
  body: JsonObject,
  nameOf: NameOf,
): Failure | undefined {
  if (!isJsonObject(schema)) return undefined;
  const violation = violationOf(schema, body);
  if (violation === undefined) return undefined;
  const facts = unknownField(schema, body, id) ?? explain(violation, id);
  return usage(describe(facts, nameOf), `\`svc models show ${id}\` lists what it takes.`);
}

function violationOf(schema: JsonObject, body: JsonObject): SchemaViolation | undefined {
  try {
    return createSchemaChecker({ annotations: ANNOTATIONS }).violations(schema, body).at(-1);
  } catch {
    // A server of another version may have keywords that are not known here.
    return undefined;
  }
}

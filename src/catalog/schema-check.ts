import type { JsonObject } from "../domain/json.ts";
import { compiledSchema, createSchemaChecker, type SchemaChecker } from "../toolkit/json-schema.ts";
import type { Problem } from "../toolkit/schema-problems.ts";
import schema from "./manifest.schema.json";
import { problemsOf } from "./problem.ts";

/** The schema of a price rule alone; what it refers to is where it was. */
const PRICE_SCHEMA = { ...schema.$defs.price, $defs: schema.$defs };

/** The schema of a price rule, and those that it refers to. */
export function priceSchema(): { readonly price: JsonObject; readonly definitions: JsonObject } {
  const all: Readonly<Record<string, unknown>> = schema.$defs;
  const needed = new Set(["price"]);
  // Grows while it is gone through.
  for (const name of needed)
    for (const [, other] of JSON.stringify(all[name]).matchAll(/"#\/\$defs\/(\w+)"/g))
      needed.add(other ?? "");
  const definitions = Object.fromEntries([...needed].map((name) => [name, all[name]]));
  return { price: { $ref: "#/$defs/price" }, definitions: definitions as JsonObject };
}

const ANNOTATIONS = ["x-must"];

/** The schema of manifests, and how it is compiled: `validateSchema` brings the schema of JSON Schemas along, to which it refers. */
export const MANIFESTS = {
  schema,
  options: { annotations: ANNOTATIONS, allErrors: true, validateSchema: true },
} as const;

/** Checks manifests against their schema, which takes long to compile: the build has done it, or it is done once. */
export function createManifestChecker(): SchemaChecker {
  const sourceOf = (given: object) => (given === schema ? compiledSchema("manifest") : undefined);
  return createSchemaChecker({ ...MANIFESTS.options, sourceOf });
}

/** Where a manifest does not fit its schema. */
export function manifestSchemaProblems(checker: SchemaChecker, manifest: unknown): Problem[] {
  return problemsOf(checker.violations(schema, manifest), manifest);
}

/** Checks price rules of operators against the schema that prices of manifests have, compiled at the first one. */
export function createPriceChecker(): SchemaChecker {
  return createSchemaChecker({ annotations: ANNOTATIONS, allErrors: true });
}

/** Where an operator's price rule does not fit that schema. */
export function priceSchemaProblems(checker: SchemaChecker, rule: unknown): Problem[] {
  return problemsOf(checker.violations(PRICE_SCHEMA, rule), rule);
}

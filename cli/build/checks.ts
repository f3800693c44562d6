import { builtInModels } from "../../src/catalog/catalog.ts";
import { MODEL_CHECKS } from "../../src/catalog/validate.ts";
import { checkSource } from "../../src/toolkit/json-schema.ts";

/** The check of requests for each built-in model, as code, by the model's id. */
export type CompiledChecks = Readonly<Record<string, string>>;

/** Compiles the schemas of models, so that a server need not. */
export function compileChecks(models = builtInModels()): CompiledChecks {
  return Object.fromEntries(models.map(({ id, schema }) => [id, checkSource(schema, MODEL_CHECKS)]));
}

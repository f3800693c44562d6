import { builtInModels } from "../../src/catalog/catalog.ts";
import { MANIFESTS } from "../../src/catalog/schema-check.ts";
import { MODEL_CHECKS } from "../../src/catalog/validate.ts";
import { FORMS } from "../../src/providers/declared/read-form.ts";
import type { compiledSchemas } from "../../src/toolkit/compiled-schemas.ts";
import { checkSource } from "../../src/toolkit/json-schema.ts";

/** The check of requests for each built-in model, as code, by the model's id. */
export type CompiledChecks = Readonly<Record<string, string>>;

/** Compiles the schemas of models, so that a server need not. */
export function compileChecks(models = builtInModels()): CompiledChecks {
  return Object.fromEntries(models.map(({ id, schema }) => [id, checkSource(schema, MODEL_CHECKS)]));
}

/** Compiles the schemas of the files that operators write, so that a server with models or providers of its own need not. */
export function compileSchemas(): Required<typeof compiledSchemas> {
  return {
    manifest: checkSource(MANIFESTS.schema, MANIFESTS.options),
    form: checkSource(FORMS.schema, FORMS.options),
  };
}

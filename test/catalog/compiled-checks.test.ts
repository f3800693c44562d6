import { describe, expect, test } from "bun:test";
import { compileChecks, compileSchemas } from "../../cli/build/checks.ts";
import { builtInModels } from "../../src/catalog/catalog.ts";
import { MANIFESTS } from "../../src/catalog/schema-check.ts";
import { createValidator } from "../../src/catalog/validate.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { FORMS } from "../../src/providers/declared/read-form.ts";
import { createSchemaChecker } from "../../src/toolkit/json-schema.ts";

// Compiling all of them takes seconds; the longest have the most rules.
const models = builtInModels()
  .sort((a, b) => JSON.stringify(b.schema).length - JSON.stringify(a.schema).length)
  .slice(0, 5);
const checks = compileChecks(models);

const BODIES: readonly JsonObject[] = [
  {},
  { prompt: "A fox" },
  { prompt: "🦊".repeat(40_000) },
  { prompt: "A fox", colour: "red" },
  { prompt: "A fox", n: 1_000, size: "1x1", seed: -1 },
  { prompt: "A fox", image_url: "no address", callback_url: "no address" },
];

describe.each(models.map((model) => [model.id, model] as const))("the compiled check of %s", (id, model) => {
  const written = createValidator((schema) => (schema === model.schema ? checks[id] : undefined));
  const compiled = createValidator();

  test.each(BODIES)("answers as its schema does: %#", (body) => {
    const given = { model: id, ...body };
    expect(written.validate(model, given)).toEqual(compiled.validate(model, given));
  });
});

const WRONG: readonly unknown[] = [
  {},
  null,
  {
    id: "No id",
    kind: "image",
    modes: [
      { id: "a", requires: [] },
      { id: "a", requires: ["x", "x"] },
    ],
  },
  {
    id: "a",
    kind: "sound",
    schema: { type: "nothing", properties: { a: { minLength: -1, required: "a" } } },
  },
  {
    id: "a",
    schema: { $defs: { a: { anyOf: [] } }, enum: "x" },
    price: { lines: [{ amount: 1 }] },
    routes: [{}],
  },
  { id: "a", name: "", account: 1, auth: { scheme: "other" }, submit: { path: 1 }, poll: [], errors: [{}] },
];

describe.each([
  ["manifests", MANIFESTS, compileSchemas().manifest],
  ["forms", FORMS, compileSchemas().form],
])("the compiled check of %s", (_, { schema, options }, source) => {
  const written = createSchemaChecker({ ...options, sourceOf: () => source });
  const compiled = createSchemaChecker(options);

  test.each(WRONG)("finds what the schema does: %#", (value) => {
    const violations = written.violations(schema, value);
    expect(violations).toEqual([...compiled.violations(schema, value)]);
    expect(violations).not.toEqual([]);
  });
});

import { describe, expect, test } from "bun:test";
import { compileChecks } from "../../cli/build/checks.ts";
import { builtInModels } from "../../src/catalog/catalog.ts";
import { createValidator } from "../../src/catalog/validate.ts";
import type { JsonObject } from "../../src/domain/json.ts";

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

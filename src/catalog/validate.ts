import { type Json, type JsonObject, propertyOf } from "../domain/json.ts";
import { withoutAlways } from "../domain/model/always.ts";
import type { Model } from "../domain/model/model.ts";
import { explain, unknownField } from "../domain/model/violation.ts";
import type { Validated, ValidateOptions } from "../domain/ports/catalog.ts";
import type { Facts } from "../domain/words/words.ts";
import { createSchemaChecker } from "../toolkit/json-schema.ts";
import { completionsOf } from "./partial.ts";

/** Words of our schemas that say how a violation reads: `<field> must <x-must>`, or the whole sentence and its field. */
export const ANNOTATIONS = ["x-must", "x-rule", "x-param"];

export interface Validator {
  validate(model: Model, body: JsonObject, options?: ValidateOptions): Validated;
  /** Whether prompt and media can be added to a body so that the model takes it; if a mode is given, in this mode. */
  takes(model: Model, body: JsonObject, mode: Json | undefined): boolean;
  /** Compiles the model's schema, unless that is done. */
  prepare(model: Model): void;
  /** Frees the compiled check of a model that was removed. */
  forget(model: Model): void;
}

/** How the schemas of models are compiled. */
export const MODEL_CHECKS = { annotations: ANNOTATIONS, useDefaults: true } as const;

/**
 * Checks bodies against the schemas of models. The compiler is loaded, and each schema compiled, at first use.
 *
 * @param sourceOf the check of a schema that was compiled before, with `MODEL_CHECKS`
 */
export function createValidator(sourceOf?: (schema: object) => string | undefined): Validator {
  const checker = createSchemaChecker({ ...MODEL_CHECKS, sourceOf });

  function validate(model: Model, all: JsonObject): Validated {
    const asked = withoutAlways(model, all);
    if (!asked.ok) return asked;
    const given = asked.body;
    // Defaults are top-level, so that filling them in changes the copy alone.
    const body = { ...given };
    const violation = checker.violations(model.schema, body).at(-1);
    if (violation === undefined) {
      if (isBlank(body.prompt)) return BLANK_PROMPT;
      const rounded = Object.keys(given).find((name) => isRounded(model.schema, name, given[name]));
      return rounded === undefined ? { ok: true, body } : { ok: false, facts: tooLarge(rounded) };
    }
    const facts = unknownField(model.schema, given, model.id) ?? explain(violation, model.id);
    return { ok: false, facts };
  }

  function validatePartial(model: Model, given: JsonObject): Validated {
    let refusal: Validated | undefined;
    for (const { body, standIns } of completionsOf(model, given)) {
      const validated = validate(model, body);
      if (validated.ok) return { ok: true, body: without(validated.body, standIns), missing: standIns };
      refusal ??= validated;
    }
    return refusal ?? validate(model, given);
  }

  function takes(model: Model, given: JsonObject, mode: Json | undefined): boolean {
    if (mode === undefined) return validatePartial(model, given).ok;
    const bodies = completionsOf(model, given).filter((completion) => completion.mode === mode);
    return bodies.some(({ body }) => validate(model, body).ok);
  }

  return {
    takes,
    prepare: (model) => checker.prepare(model.schema),
    forget: (model) => checker.forget(model.schema),
    validate: (model, given, options) =>
      options?.isPartial === true ? validatePartial(model, given) : validate(model, given),
  };
}

const BLANK_PROMPT: Validated = {
  ok: false,
  facts: { kind: "must", field: "prompt", must: { form: "text_to_read" }, given: undefined },
};

/**
 * Whether a whole number may be another one than the caller wrote: JSON is read into floating-point numbers, which are exact up to
 * 2^53-1. An operator's manifest may allow larger seeds.
 */
function isRounded(schema: JsonObject, name: string, value: Json | undefined): boolean {
  if (typeof value !== "number" || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return false;
  return [propertyOf(schema, name)?.type].flat().includes("integer");
}

function tooLarge(field: string): Facts {
  return { kind: "must", field, must: { rule: TO_BE_EXACT }, given: undefined };
}

const TO_BE_EXACT = `be a whole number up to ${Number.MAX_SAFE_INTEGER}, because larger ones are rounded in JSON`;

function isBlank(prompt: unknown): boolean {
  return typeof prompt === "string" && prompt.trim() === "";
}

function without(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

import type { Ajv2020, AnySchemaObject, ValidateFunction } from "ajv/dist/2020.js";
import type { JsonObject } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import { explain, unknownField } from "../domain/model/violation.ts";
import type { Validated, ValidateOptions } from "../domain/ports/catalog.ts";
import { completionsOf } from "./partial.ts";

/** Words of our schemas that say how a violation reads: `<field> must <x-must>`, or the whole sentence and its field. */
const ANNOTATIONS = ["x-must", "x-rule", "x-param"];

export interface Validator {
  validate(model: Model, body: JsonObject, options?: ValidateOptions): Validated;
  /** Compiles the model's schema, unless it is compiled. */
  prepare(model: Model): void;
}

/** Checks bodies against the schemas of models, each compiled once, the compiler loaded with the first. */
export function createValidator(): Validator {
  const compiled = new WeakMap<Model, ValidateFunction>();
  let ajv: Ajv2020 | undefined;

  const check = (model: Model): ValidateFunction => {
    const known = compiled.get(model);
    if (known !== undefined) return known;
    ajv ??= loadAjv();
    // A JSON Schema is a JSON object; only the mutability of the type differs.
    const fresh = ajv.compile(model.schema as AnySchemaObject);
    compiled.set(model, fresh);
    return fresh;
  };

  function validate(model: Model, given: JsonObject): Validated {
    const isValid = check(model);
    // Defaults are top-level, so that filling them in changes the copy alone.
    const body = { ...given };
    if (isValid(body)) return { ok: true, body };
    // The last one is the rule itself; those before it say how its alternatives were missed.
    const error = isValid.errors?.at(-1);
    const problem = unknownField(model.schema, given, model.id) ?? (error && explain(error, model.id));
    return { ok: false, ...(problem ?? { message: "The request does not fit the model's schema." }) };
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

  return {
    prepare: (model) => void check(model),
    validate: (model, given, options) =>
      options?.isPartial === true ? validatePartial(model, given) : validate(model, given),
  };
}

function without(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

/** Loading takes longer than everything else at start, and `validate` is synchronous: hence `require`, at first use. */
function loadAjv(): Ajv2020 {
  const { Ajv2020 } = require("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const ajv = new Ajv2020({
    strict: true,
    // Rules over several fields name fields that other parts of the schema define.
    strictRequired: false,
    useDefaults: true,
    verbose: true,
    // Built-in schemas are checked against the meta-schema by a test; doing it here would double the time of the first create.
    meta: false,
    validateSchema: false,
  });
  ajv.addFormat("uri", { type: "string", validate: (text: string) => URL.canParse(text) });
  for (const keyword of ANNOTATIONS) ajv.addKeyword({ keyword, schemaType: "string" });
  return ajv;
}

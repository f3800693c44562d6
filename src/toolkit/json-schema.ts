import type { Ajv2020, AnySchemaObject, ErrorObject, Options } from "ajv/dist/2020.js";

/** A violation as Ajv reports it, with the value at fault (`data`) and the schema that refuses it (`parentSchema`). */
export type SchemaViolation = ErrorObject;

export interface SchemaCheckerOptions
  extends Pick<Options, "allErrors" | "coerceTypes" | "useDefaults" | "validateSchema"> {
  /** Keywords that annotate a schema and check nothing. */
  readonly annotations?: readonly string[] | undefined;
  /** Formats of strings, beside `uri`. */
  readonly formats?: Readonly<Record<string, (text: string) => boolean>> | undefined;
}

export interface SchemaChecker {
  /**
   * Checks a value against a schema, compiled at its first use. `useDefaults` and `coerceTypes` change the value.
   *
   * @returns the violations, empty when the value fits. Where a rule has alternatives, the rule comes last, after how each
   *   alternative was missed.
   * @throws Error when the schema itself is wrong
   */
  violations(schema: object, value: unknown): readonly SchemaViolation[];
  /** Compiles a schema ahead of its first use. */
  prepare(schema: object): void;
  /** Frees what was compiled of a schema that is not used any more. */
  forget(schema: object): void;
}

/** Checks values against JSON Schemas (2020-12). The compiler is loaded with the first schema. */
export function createSchemaChecker(options: SchemaCheckerOptions = {}): SchemaChecker {
  let ajv: Ajv2020 | undefined;

  // Ajv keeps what it compiled, by the identity of the schema.
  const compile = (schema: object) => {
    ajv ??= loadAjv(options);
    return ajv.compile(schema as AnySchemaObject);
  };

  return {
    violations(schema, value) {
      const isValid = compile(schema);
      return isValid(value) ? [] : (isValid.errors ?? []);
    },
    prepare: (schema) => void compile(schema),
    forget: (schema) => void ajv?.removeSchema(schema as AnySchemaObject),
  };
}

/** Loading takes longer than everything else at start, and checks are synchronous: hence `require`, at first use. */
function loadAjv({ annotations = [], formats = {}, ...options }: SchemaCheckerOptions): Ajv2020 {
  const { Ajv2020 } = require("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const ajv = new Ajv2020({
    strict: true,
    // Rules over several fields name fields that other parts of the schema define.
    strictRequired: false,
    allowUnionTypes: true,
    verbose: true,
    // A test checks built-in schemas against the meta-schema; here it would double the time of the first check.
    validateSchema: false,
    ...options,
    meta: options.validateSchema !== undefined && options.validateSchema !== false,
  });
  ajv.addFormat("uri", { type: "string", validate: (text: string) => URL.canParse(text) });
  for (const [name, validate] of Object.entries(formats)) ajv.addFormat(name, { type: "string", validate });
  for (const keyword of annotations) ajv.addKeyword({ keyword });
  return ajv;
}

import type { Ajv2020, AnySchemaObject, ErrorObject, Options } from "ajv/dist/2020.js";

/** A violation as Ajv reports it, with the value at fault (`data`) and the schema that refuses it (`parentSchema`). */
export type SchemaViolation = ErrorObject;

export interface SchemaCheckerOptions
  extends Pick<Options, "allErrors" | "coerceTypes" | "useDefaults" | "validateSchema"> {
  /** Keywords that annotate a schema and check nothing. */
  readonly annotations?: readonly string[] | undefined;
  /** Formats of strings, beside `uri`. */
  readonly formats?: Readonly<Record<string, (text: string) => boolean>> | undefined;
  /** What `checkSource` wrote for a schema with the same options; undefined for one that must be compiled. */
  readonly sourceOf?: ((schema: object) => string | undefined) | undefined;
}

export interface SchemaChecker {
  /**
   * Checks a value against a schema, compiled at its first use. `useDefaults` and `coerceTypes` change the value.
   *
   * @returns the violations, empty when the value fits. If a rule has alternatives, the rule comes last, after the violations of
   * each alternative.
   * @throws Error when the schema itself is wrong
   */
  violations(schema: object, value: unknown): readonly SchemaViolation[];
  /** Compiles a schema ahead of its first use, unless its check was written before. */
  prepare(schema: object): void;
  /** Frees what was compiled of a schema that is not used any more. */
  forget(schema: object): void;
}

/** Checks values against JSON Schemas (2020-12). The compiler is loaded with the first schema that needs it. */
export function createSchemaChecker(options: SchemaCheckerOptions = {}): SchemaChecker {
  const { sourceOf = () => undefined, formats = {} } = options;
  const read = new WeakMap<object, Check>();
  let ajv: Ajv2020 | undefined;

  // Ajv keeps what it compiled, by the identity of the schema.
  const compile = (schema: object): Check => {
    ajv ??= loadAjv(options);
    return ajv.compile(schema as AnySchemaObject);
  };

  function checkOf(schema: object): Check {
    const known = read.get(schema);
    if (known !== undefined) return known;
    const source = sourceOf(schema);
    const check = source === undefined ? compile(schema) : readCheck(source, schema, formats);
    read.set(schema, check);
    return check;
  }

  return {
    violations(schema, value) {
      const isValid = checkOf(schema);
      return isValid(value) ? [] : (isValid.errors ?? []);
    },
    prepare(schema) {
      if (sourceOf(schema) === undefined) checkOf(schema);
    },
    forget(schema) {
      read.delete(schema);
      ajv?.removeSchema(schema as AnySchemaObject);
    },
  };
}

/** A compiled schema: whether a value fits, and in `errors` why the last one did not. */
interface Check {
  (value: unknown): unknown;
  errors?: SchemaViolation[] | null;
}

/**
 * The compiled check of a schema as text, for `sourceOf`. Reading it takes a thirtieth of the time that compiling takes.
 *
 * @throws Error when the schema is wrong, or needs more than the text can be given
 */
export function checkSource(schema: object, options: SchemaCheckerOptions = {}): string {
  const { _ } = require("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const { default: write } =
    require("ajv/dist/standalone/index.js") as typeof import("ajv/dist/standalone/index.js");
  const code = { source: true, formats: _`require("formats")` };
  const ajv = loadAjv(options, { code });
  const text = write(ajv, ajv.compile(schema as AnySchemaObject));
  // The caller has the schema itself. Ajv writes it down once more, as the first constant.
  const copy = JSON.stringify(schema);
  if (!text.includes(` = ${copy};`))
    throw new Error("The compiled check does not hold its schema as expected.");
  return text.replace(` = ${copy};`, () => " = schema;");
}

/** The compiled check of one of our own schemas, for `sourceOf`, where the build has made it. The texts are long: read at first use. */
export function compiledSchema(name: "manifest" | "form"): string | undefined {
  const { compiledSchemas } = require("./compiled-schemas.ts") as typeof import("./compiled-schemas.ts");
  return compiledSchemas[name];
}

/** @param source what `checkSource` wrote */
function readCheck(
  source: string,
  schema: object,
  formats: NonNullable<SchemaCheckerOptions["formats"]>,
): Check {
  const parts: Readonly<Record<string, unknown>> = {
    "ajv/dist/runtime/ucs2length": { default: codePoints },
    "ajv/dist/runtime/equal": { default: isEqual },
    formats: formatsOf(formats),
  };
  const module: { exports?: Check } = {};
  new Function("module", "require", "schema", source)(module, (name: string) => parts[name], schema);
  if (module.exports === undefined) throw new Error("This is no compiled check.");
  return module.exports;
}

/** How many characters a text has; half a pair counts for one. */
function codePoints(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    if (isBetween(text.charCodeAt(i), 0xdc00, 0xdfff) && isBetween(text.charCodeAt(i - 1), 0xd800, 0xdbff))
      count--;
  }
  return count;
}

/** Whether two values of JSON are equal. */
function isEqual(one: unknown, other: unknown): boolean {
  return one === other || Bun.deepEquals(one, other, true);
}

function isBetween(code: number, first: number, last: number): boolean {
  return code >= first && code <= last;
}

function formatsOf(more: NonNullable<SchemaCheckerOptions["formats"]>) {
  const formats = { uri: (text: string) => URL.canParse(text), ...more };
  return Object.fromEntries(
    Object.entries(formats).map(([name, validate]) => [name, { type: "string", validate } as const]),
  );
}

/** Loading takes longer than everything else at start, and checks are synchronous: hence `require`, at first use. */
function loadAjv(
  { annotations = [], formats = {}, sourceOf: _, ...options }: SchemaCheckerOptions,
  more: Options = {},
): Ajv2020 {
  const { Ajv2020 } = require("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const ajv = new Ajv2020({
    strict: true,
    // Rules over several fields name fields that other parts of the schema define.
    strictRequired: false,
    allowUnionTypes: true,
    verbose: true,
    // A test checks built-in schemas against the meta-schema; here it would double the time of the first check.
    validateSchema: false,
    // Most checks are used a few times, so tidier code would take longer to make than it saves.
    code: { optimize: false },
    ...options,
    ...more,
    meta: options.validateSchema !== undefined && options.validateSchema !== false,
  });
  for (const [name, format] of Object.entries(formatsOf(formats))) ajv.addFormat(name, format);
  for (const keyword of annotations) ajv.addKeyword({ keyword });
  return ajv;
}

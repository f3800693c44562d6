import { isJsonObject, type Json } from "../../domain/json.ts";
import type { Path } from "../../toolkit/schema-problems.ts";
import { ABSENT, isPlain, type Scope } from "./expression.ts";
import { ExpressionError } from "./fences.ts";
import { CONTENT_STAND_IN, type FileValue } from "./files.ts";
import type { CompiledTemplate } from "./template.ts";

/** A compiled value of a form. */
export interface Value {
  /** @returns JSON, in which files stand for themselves, or `ABSENT`. @throws ExpressionError */
  evaluate(scope: Scope, files?: readonly FileValue[]): Worded | typeof ABSENT;
}

/** JSON, and files where a body of parts takes them. */
export type Worded = Json | FileValue | readonly Worded[] | { readonly [name: string]: Worded };

interface Compiler {
  template(text: string, path: Path): CompiledTemplate;
  /** A template that knows `file` too. */
  each(text: string, path: Path): CompiledTemplate;
  report(path: Path, problem: string): void;
  /** Whether names of lists keep the brackets that say so. */
  readonly keepsBrackets: boolean;
}

/** Compiles a value: templates in texts, absent members left out of mappings and lists, `each ROLE as …` for inputs. */
export function createValue(given: unknown, path: Path, compiler: Compiler, isWhole = false): Value {
  if (typeof given === "string") return fromTemplate(compiler.template(given, path));
  if (Array.isArray(given)) return listOf(given.map((each, i) => entryOf(each, [...path, i], compiler)));
  if (isJsonObject(given)) return mappingOf(given, path, compiler, isWhole);
  // What YAML has besides is a number, a boolean or null.
  const constant = (given ?? null) as Json;
  return { evaluate: () => constant };
}

function fromTemplate({ template: { texts }, expressions, isWhole }: CompiledTemplate): Value {
  const [only] = expressions;
  if (only === undefined) {
    const text = texts.join("");
    return { evaluate: () => text };
  }
  if (isWhole) return { evaluate: (scope, files) => toWorded(only.evaluate(scope, files)) };
  return {
    evaluate(scope, files) {
      let text = texts[0] ?? "";
      for (const [i, expression] of expressions.entries()) {
        const value = expression.evaluate(scope, files);
        if (value === ABSENT) return ABSENT;
        text += textOf(value) + (texts[i + 1] ?? "");
      }
      return text;
    },
  };
}

/** What an entry of a list adds to it: nothing where it is absent, and one for each input where it says so. */
type Entry = (scope: Scope, files: readonly FileValue[]) => readonly Worded[];

function listOf(entries: readonly Entry[]): Value {
  return { evaluate: (scope, files = []) => entries.flatMap((entry) => entry(scope, files)) };
}

const EACH_ENTRY = /^each\s+([a-z_]+)$/;

/** An entry of a list; `each image: …` stands for as many as there are inputs of that role. */
function entryOf(given: unknown, path: Path, compiler: Compiler): Entry {
  const [key = "", ...others] = isJsonObject(given) ? Object.keys(given) : [];
  const role = others.length === 0 ? EACH_ENTRY.exec(key)?.[1] : undefined;
  if (role === undefined || !isJsonObject(given)) {
    const value = createValue(given, path, compiler);
    return (scope, files) => presentIn([value.evaluate(scope, files)]);
  }
  const value = createValue(given[key], [...path, key], { ...compiler, template: compiler.each });
  return (scope, files) =>
    presentIn(ofRole(files, role).map((file) => value.evaluate({ ...scope, file }, files)));
}

function presentIn(values: readonly (Worded | typeof ABSENT)[]): Worded[] {
  return values.filter((value) => value !== ABSENT);
}

function ofRole(files: readonly FileValue[], role: string): FileValue[] {
  return files.filter((file) => file.role === role);
}

type Member = (scope: Scope, files: readonly FileValue[], into: [string, Worded][]) => void;

function mappingOf(given: object, path: Path, compiler: Compiler, isWhole: boolean): Value {
  const members = Object.entries(given).map(([key, each]: [string, unknown]): Member => {
    const at = [...path, key];
    if (/^each\s/.test(key)) return eachInput(key, each, at, compiler);
    const value = createValue(each, at, compiler);
    return (scope, files, into) => {
      const worded = value.evaluate(scope, files);
      if (worded !== ABSENT) into.push([key, worded]);
    };
  });
  return {
    evaluate(scope, files = []) {
      const into: [string, Worded][] = [];
      for (const member of members) member(scope, files, into);
      // A mapping of nothing but absent values is absent too, unless it is the whole.
      return into.length === 0 && members.length > 0 && !isWhole ? ABSENT : Object.fromEntries(into);
    },
  };
}

const EACH = /^each\s+([a-z_]+)\s+as\s+(\S.*)$/;

/** `each image as a, b: …`, the first under `a`, the second under `b`; `each image as images[]: …`, all in a list. */
function eachInput(key: string, given: unknown, path: Path, compiler: Compiler): Member {
  const [, role, list = ""] = EACH.exec(key) ?? [];
  const names = list.split(",").map((name) => name.trim());
  if (role === undefined || names.includes("")) {
    compiler.report(path, 'must say "each ROLE as name" or "each ROLE as first, second"');
    return () => undefined;
  }
  const value = createValue(given, path, { ...compiler, template: compiler.each });
  const [only = ""] = names;
  const isList = names.length === 1 && only.endsWith("[]");
  const listName = compiler.keepsBrackets ? only : only.slice(0, -2);
  return (scope, files, into) => {
    const own = ofRole(files, role);
    if (!isList && own.length > names.length)
      throw new ExpressionError(
        `there are ${own.length} inputs that are a ${role}, and names for ${names.length}`,
      );
    const present = presentIn(own.map((file) => value.evaluate({ ...scope, file }, files)));
    if (isList) {
      if (present.length > 0) into.push([listName, present]);
    } else for (const [i, each] of present.entries()) into.push([names[i] ?? only, each]);
  };
}

/** What an expression gives, as JSON. Whole numbers lose the type that CEL gives them. */
function toWorded(value: unknown): Worded | typeof ABSENT {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "bigint":
      if (Number.isSafeInteger(Number(value))) return Number(value);
      throw new ExpressionError(`gives ${value}, which numbers of JSON do not hold exactly; use string(…)`);
    case "number":
      if (Number.isFinite(value)) return value;
      throw new ExpressionError(`gives ${value}, which JSON does not have`);
    case "symbol":
      return ABSENT;
    case "object":
      if (value === null) return null;
      if (Array.isArray(value)) return toList(value);
      if (isOptional(value)) return value.hasValue() ? toWorded(value.value()) : ABSENT;
      if (isPlain(value)) return toMapping(value);
  }
  throw new ExpressionError("gives a value that JSON does not have");
}

function toList(list: readonly unknown[]): Worded {
  return list.flatMap((each) => {
    const worded = toWorded(each);
    return worded === ABSENT ? [] : [worded];
  });
}

function toMapping(mapping: object): Worded {
  if (isFile(mapping)) return mapping;
  return Object.fromEntries(
    Object.entries(mapping).flatMap(([name, each]): [string, Worded][] => {
      const worded = toWorded(each);
      return worded === ABSENT ? [] : [[name, worded]];
    }),
  );
}

/** Whether a value stands for a file of the request. A message of a chat has a role and a content too. */
export function isFile(value: unknown): value is FileValue {
  return isJsonObject(value) && typeof value.content === "string" && CONTENT_STAND_IN.test(value.content);
}

function isOptional(value: unknown): value is { hasValue(): boolean; value(): unknown } {
  return isJsonObject(value) && typeof (value as { hasValue?: unknown }).hasValue === "function";
}

function textOf(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  const worded = toWorded(value);
  if (typeof worded === "string") return worded;
  if (typeof worded === "number" || typeof worded === "boolean") return String(worded);
  throw new ExpressionError("stands inside a text, for which it must give a text or a number");
}

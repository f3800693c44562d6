import { createHash } from "node:crypto";
import type { ASTNode, Environment } from "@marcbachmann/cel-js";
import { parseJson } from "../kit/json-answer.ts";
import {
  ExpressionError,
  fence,
  LIST_MAX,
  MACRO_TEXT_MAX,
  NESTED_LIST_MAX,
  type Parts,
  type Seen,
  TEXT_MAX,
} from "./fences.ts";
import type { FileValue } from "./files.ts";

type Library = typeof import("@marcbachmann/cel-js");

/** What an expression sees, by the names of variables. */
export type Scope = Readonly<Record<string, unknown>>;

/** A compiled expression of a form, in CEL (https://github.com/google/cel-spec, 2026-11). */
export interface Expression {
  /** The variables that it reads. */
  readonly names: ReadonlySet<string>;
  readonly visits: number;
  /** @returns a value, or `ABSENT`. @throws ExpressionError when the scope does not have what it needs */
  evaluate(scope: Scope, files?: readonly FileValue[]): unknown;
}

/** The value of an expression that has none; its key is then left out. */
export const ABSENT: unique symbol = Symbol("absent");

/** The inputs that `input` and `inputs` find during an evaluation, which nothing can interrupt. */
let inputsInUse: readonly FileValue[] = [];
/** What `json` shows of the text of an answer during an evaluation. */
let seenInUse: Seen | undefined;

/** What an upstream answered, and parts of that. */
const OF_ANSWERS: ReadonlySet<string> = new Set(["body", "polled", "item"]);

/** One language for all forms, loaded and set up at the first expression. */
let language: { readonly library: Library; readonly environment: Environment } | undefined;

/**
 * Compiles an expression.
 *
 * @param allowed the variables that are known where it stands
 * @throws ExpressionError saying what is wrong, and where
 */
export function compileExpression(source: string, allowed: ReadonlySet<string>): Expression {
  language ??= createLanguage();
  const { library, environment } = language;
  try {
    const program = environment.parse(source);
    const parts = fence(program.ast, allowed);
    const { names, visits } = parts;
    const checked = program.check();
    if (!checked.valid) throw checked.error;
    return {
      ...{ names, visits },
      evaluate(scope, files = []) {
        inputsInUse = files;
        seenInUse = parts.ofAnswers;
        try {
          return unwrapped(library, program(bounded(library, scope, parts)));
        } catch (error) {
          throw toExpressionError(library, error);
        }
      },
    };
  } catch (error) {
    throw toExpressionError(library, error);
  }
}

/** The tree of an expression that `compileExpression` takes. */
export function parseExpression(source: string): ASTNode {
  language ??= createLanguage();
  return language.environment.parse(source).ast;
}

/** Synchronous, like every evaluation: hence `require`, at first use. */
function createLanguage() {
  const library = require("@marcbachmann/cel-js") as Library;
  const { EvaluationError } = library;
  const refuse: Refuse = (message) => {
    throw new EvaluationError(message);
  };
  const file = (name: string) => (value: unknown) =>
    isRecord(value) && typeof value[name] === "string"
      ? value[name]
      : refuse(`${name}() needs a file of the request`);
  const environment = new library.Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    unlistedVariablesAreDyn: true,
    limits: { maxAstNodes: 500, maxDepth: 60, maxListElements: 200, maxMapEntries: 200, maxCallArguments: 8 },
  });
  const ofRole = (role: string) => inputsInUse.filter((file) => file.role === role);
  environment
    .registerFunction("input(string): optional<dyn>", (role: string) => {
      const [first] = ofRole(role);
      return first === undefined ? library.Optional.none() : library.Optional.of(first);
    })
    .registerFunction("inputs(string): list", ofRole)
    .registerFunction("uuid(dyn): string", (seed: unknown) => uuidOf(String(seed)))
    .registerFunction("json(string): dyn", (text: string) => {
      const value = parseJson(text) ?? refuse("json() got no JSON");
      return seenInUse === undefined ? value : cut(value, seenInUse);
    })
    .registerFunction("base64(dyn): string", file("base64"))
    .registerFunction("uri(dyn): string", file("uri"))
    .registerFunction("url(dyn): string", file("url"));
  registerBounded(environment, refuse);
  return { library, environment };
}

/** `split`, `join` and `replace`, by the names that the fences give their calls. */
function registerBounded(environment: Environment, refuse: Refuse): void {
  for (const most of [LIST_MAX, NESTED_LIST_MAX])
    environment.registerFunction(`string.split${most}(string): list<string>`, (text: string, by: string) =>
      text.split(by, most),
    );
  for (const most of [TEXT_MAX, MACRO_TEXT_MAX])
    environment
      .registerFunction(`list.join${most}(): string`, (list: unknown[]) => joined(list, "", most, refuse))
      .registerFunction(`list.join${most}(string): string`, (list: unknown[], by: string) =>
        joined(list, by, most, refuse),
      )
      .registerFunction(
        `string.replace${most}(string, string): string`,
        (text: string, what: string, by: string) => replaced(text, what, by, most, refuse),
      );
}

/** A UUID that follows from a text, with the version for those that somebody else defines (RFC 9562, 2024-05). */
function uuidOf(seed: string): string {
  const hex = createHash("sha256").update(seed).digest("hex");
  const variant = "89ab"[Number.parseInt(hex[16] ?? "0", 16) % 4];
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join("-");
}

type Refuse = (message: string) => never;

function joined(list: readonly unknown[], by: string, most: number, refuse: Refuse): string {
  const texts: string[] = [];
  let length = -by.length;
  for (const each of list) {
    const text = typeof each === "string" ? each : String(each);
    length += text.length + by.length;
    if (length > most) refuse(`makes a text of more than ${most} characters`);
    texts.push(text);
  }
  return texts.join(by);
}

/** At most one replacement for so many characters that a text may have. */
const CHARACTERS_EACH = 16;

function replaced(text: string, what: string, by: string, most: number, refuse: Refuse): string {
  const mostTimes = most / CHARACTERS_EACH;
  const parts = text.split(what, mostTimes + 2);
  if (parts.length > mostTimes + 1) refuse(`replaces "${what.slice(0, 20)}" more than ${mostTimes} times`);
  return joined(parts, by, Math.max(most, text.length), refuse);
}

/** The value itself for one that may be absent. */
function unwrapped({ Optional }: Library, value: unknown): unknown {
  if (!(value instanceof Optional)) return value;
  return value.hasValue() ? unwrapped({ Optional } as Library, value.value()) : ABSENT;
}

/** The variables an expression reads, with long lists and texts of answers cut, so that it takes no long time. */
function bounded({ Optional }: Library, scope: Scope, { names, seen, ofAnswers }: Parts): Scope {
  const known: Record<string, unknown> = {};
  for (const name of names) {
    const value = scope[name];
    const isThere = value !== ABSENT && value !== undefined;
    known[name] = isThere ? cutOnce(value, OF_ANSWERS.has(name) ? ofAnswers : seen) : Optional.none();
  }
  return known;
}

/** What was cut already: many expressions read one answer. */
const cuts = new WeakMap<Seen, WeakMap<object, unknown>>();

function cutOnce(value: unknown, seen: Seen): unknown {
  if (typeof value !== "object" || value === null) return cut(value, seen);
  const known = cuts.getOrInsertComputed(seen, () => new WeakMap<object, unknown>());
  return known.getOrInsertComputed(value, () => cut(value, seen));
}

/** Copies only what must be cut. */
function cut(value: unknown, seen: Seen): unknown {
  if (typeof value === "string")
    return value.length > seen.characters ? value.slice(0, seen.characters) : value;
  if (Array.isArray(value)) {
    const short = value.length > seen.entries ? value.slice(0, seen.entries) : value;
    const entries = short.map((each) => cut(each, seen));
    return entries.every((each, i) => each === value[i]) && short === value ? value : entries;
  }
  if (!isPlain(value)) return value;
  const members = Object.entries(value);
  const said = seen.isWithoutNulls === true ? members.filter(([, each]) => each !== null) : members;
  const entries = said.slice(0, seen.entries).map(([key, each]): [string, unknown] => [key, cut(each, seen)]);
  const isWhole =
    entries.length === members.length && entries.every(([, each], i) => each === members[i]?.[1]);
  return isWhole ? value : Object.fromEntries(entries);
}

/** Whether a value is a mapping of JSON, or one that an expression wrote out. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toExpressionError(library: Library, error: unknown): unknown {
  const kinds = [library.ParseError, library.TypeError, library.EvaluationError];
  const isLibrarys = kinds.some((each) => error instanceof each);
  if (!isLibrarys) return error;
  // One of the three, whose members they share.
  const { summary, range } = error as InstanceType<Library["ParseError"]>;
  return new ExpressionError(explained(summary), range?.start);
}

/** Numbers in JSON are doubles to CEL, which people are rarely told. */
function explained(summary: string): string {
  const plain = summary.replace(/\b(split|join|replace)\d+\b/g, "$1");
  return /no such overload/.test(plain) && /int/.test(plain) && /double/.test(plain)
    ? `${plain} (numbers of JSON are doubles: write 100.0 instead of 100, or int(…))`
    : plain;
}

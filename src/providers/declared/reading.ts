import type { Json } from "../../domain/json.ts";
import type { Micros } from "../../domain/money/money.ts";
import type { Output } from "../../domain/ports/provider.ts";
import { LONGEST_DELAY_MS } from "../../domain/task/backoff.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import type { Usage } from "../../domain/task/task.ts";
import type { Path } from "../../toolkit/schema-problems.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { bytesOf } from "../kit/json-answer.ts";
import type { Compiling } from "./compiling.ts";
import { ABSENT, type Scope } from "./expression.ts";
import { ExpressionError } from "./fences.ts";
import type { MadeForm, OutputsForm } from "./form.ts";
import { withItem } from "./names.ts";
import type { Value, Worded } from "./value.ts";

/** What an answer says was made, and what that took. */
export interface Making {
  readonly outputs: readonly Output[];
  readonly usage: Usage | undefined;
  readonly costMicros: Micros | undefined;
}

/** Reads what was made from an answer. @throws ExpressionError when it is not where the form says */
export type ReadMaking = (answer: UpstreamAnswer, scope: Scope, kind: TaskKind) => Making;

/** An answer as expressions see it. */
export function answerScope({ status, headers, json, text }: UpstreamAnswer): Scope {
  return {
    status: BigInt(status),
    headers: Object.fromEntries(headers),
    // An answer without a body has no members either.
    body: json ?? (text === undefined || text === "" ? {} : text),
  };
}

/** Compiles outputs, usage and cost. @returns undefined when the form tells no outputs there */
export function compileMaking(
  compiling: Compiling,
  form: MadeForm,
  allowed: ReadonlySet<string>,
  path: Path,
  cost = compileCost(compiling, form, allowed, path),
): ReadMaking | undefined {
  if (form.outputs === undefined) return undefined;
  const outputs = compileOutputs(compiling, form.outputs, allowed, [...path, "outputs"]);
  const usage = compileUsage(compiling, form, allowed, path);
  return (answer, scope, kind) => ({
    outputs: outputs(answer, scope, kind),
    usage: usage(scope),
    costMicros: cost(scope),
  });
}

/** What an answer says that the upstream charges; undefined where it does not say. */
export type ReadCost = (scope: Scope) => Micros | undefined;

export function compileCost(
  compiling: Compiling,
  { cost }: MadeForm,
  allowed: ReadonlySet<string>,
  path: Path,
): ReadCost {
  const amount = cost && compiling.value(cost.amount, allowed, [...path, "cost", "amount"]);
  const unitMicros = (cost?.unit_usd ?? 1) * 1_000_000;
  return (scope) => microsOf(numberIn(amount, scope), unitMicros);
}

type ReadOutputs = (answer: UpstreamAnswer, scope: Scope, kind: TaskKind) => Output[];

function compileOutputs(
  compiling: Compiling,
  form: OutputsForm,
  allowed: ReadonlySet<string>,
  path: Path,
): ReadOutputs {
  const each = form.each === undefined ? undefined : compiling.value(form.each, allowed, [...path, "each"]);
  const names = each === undefined ? allowed : withItem(allowed);
  const member = (name: "url" | "base64" | "missing") => {
    const text = form[name];
    return text === undefined ? undefined : compiling.value(text, names, [...path, name]);
  };
  const [url, base64, missing] = [member("url"), member("base64"), member("missing")];
  const takesBytes = form.bytes === true;
  const size = form.size === undefined ? undefined : compiling.value(form.size, names, [...path, "size"]);
  const sized = (output: Output, scope: Scope): Output => {
    const expected = tryEvaluate(size, scope);
    return output.kind === "bytes" && typeof expected === "string" ? { ...output, size: expected } : output;
  };
  if (url === undefined && base64 === undefined && !takesBytes)
    compiling.report(path, "must have url, base64 or bytes");
  const read: ReadOutputs = (answer, scope, kind) => {
    const word = missing?.evaluate(scope);
    if (typeof word === "string" && word !== "") return [missingBecause(word)];
    if (takesBytes) return answer.bytes === undefined ? [] : [{ kind: "bytes", bytes: answer.bytes }];
    const encoded = listOf(base64?.evaluate(scope)).map((text) =>
      sized(toOutput(answer, text, kind, true), scope),
    );
    const addresses = listOf(url?.evaluate(scope)).map((text) => toOutput(answer, text, kind, false));
    // Of an item with both, one.
    return encoded.some(({ kind: made }) => made !== "missing") || addresses.length === 0
      ? encoded
      : addresses;
  };
  if (each === undefined) return read;
  return (answer, scope, kind) => {
    const items = listOf(each.evaluate(scope));
    const outputs = items.map((item) => readOne(() => read(answer, { ...scope, item }, kind)));
    const [first] = outputs;
    // What makes no sense of any item is no answer. Of several, the others count.
    if (first instanceof ExpressionError && outputs.every((each) => each instanceof ExpressionError))
      throw first;
    return outputs.map((output) => (output instanceof ExpressionError ? NOT_MADE : output));
  };
}

/** The first output of an item, or why it cannot be read. */
function readOne(read: () => readonly Output[]): Output | ExpressionError {
  try {
    return read()[0] ?? NOT_MADE;
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}

const NOT_MADE: Output = { kind: "missing", code: "UPSTREAM_ERROR" };

function missingBecause(word: string): Output {
  return word === "moderated" ? { kind: "missing", code: "CONTENT_MODERATED" } : NOT_MADE;
}

function listOf(value: Worded | typeof ABSENT | undefined): readonly Worded[] {
  if (value === undefined || value === ABSENT) return [];
  return Array.isArray(value) ? (value as Worded[]) : [value];
}

const INLINE = /^data:[\w.+/-]+;base64,/;

function toOutput(answer: UpstreamAnswer, given: Worded, kind: TaskKind, isBase64: boolean): Output {
  if (typeof given !== "string" || given === "") return NOT_MADE;
  if (isBase64 || INLINE.test(given.slice(0, 256))) return { kind: "bytes", bytes: bytesOf(answer, given) };
  return { kind: "remote", ref: { url: given, kind } };
}

function compileUsage(
  compiling: Compiling,
  { usage = {} }: MadeForm,
  allowed: ReadonlySet<string>,
  path: Path,
): (scope: Scope) => Usage | undefined {
  const member = (name: "input_tokens" | "output_tokens") => {
    const text = usage[name];
    return text === undefined ? undefined : compiling.value(text, allowed, [...path, "usage", name]);
  };
  const [input, output] = [member("input_tokens"), member("output_tokens")];
  return (scope) => {
    const [inputTokens, outputTokens] = [countIn(input, scope), countIn(output, scope)];
    return inputTokens === undefined && outputTokens === undefined
      ? undefined
      : { inputTokens, outputTokens };
  };
}

function countIn(value: Value | undefined, scope: Scope): number | undefined {
  const count = numberIn(value, scope);
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** A number that is told beside the result. Without it the result counts all the same. */
export function numberIn(value: Value | undefined, scope: Scope): number | undefined {
  const given = tryEvaluate(value, scope);
  const number = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** The shortest delay, which is that of the first polls of a job anyway. */
const SHORTEST_POLL_MS = 100;

/** The delay an upstream asks for until the next question. One that asks for none has no wish. */
export function pollAfterMs(value: Value | undefined, scope: Scope): number | undefined {
  const seconds = numberIn(value, scope);
  if (seconds === undefined || seconds <= 0) return undefined;
  return Math.min(Math.max(seconds * 1000, SHORTEST_POLL_MS), LONGEST_DELAY_MS);
}

/** A text that is told beside the result: a word, or a number that is one. */
export function textIn(value: Value | undefined, scope: Scope): string | undefined {
  const given = tryEvaluate(value, scope);
  if (typeof given === "number" || typeof given === "boolean") return String(given);
  return typeof given === "string" && given.trim() !== "" ? given : undefined;
}

/** A value, or undefined where the answer does not have what its expression reads. */
export function tryEvaluate(value: Value | undefined, scope: Scope): Json | undefined {
  try {
    const given = value?.evaluate(scope);
    // Answers hold no files.
    return given === ABSENT ? undefined : (given as Json | undefined);
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

export function microsOf(amount: number | undefined, unitMicros: number): Micros | undefined {
  if (amount === undefined || amount < 0) return undefined;
  const micros = Math.ceil(amount * unitMicros - 1e-6);
  return Number.isSafeInteger(micros) ? (micros as Micros) : undefined;
}

import { suggest } from "../../domain/suggest.ts";
import { LONGEST_DELAY_MS } from "../../domain/task/backoff.ts";
import type { Path } from "../../toolkit/schema-problems.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { meaningOfError, refusalOf } from "../kit/classify.ts";
import type { Upstream } from "../kit/http.ts";
import type { Meaning, Refusal } from "../kit/refusal.ts";
import { readErrorWords } from "../kit/said.ts";
import type { Compiling } from "./compiling.ts";
import type { Scope } from "./expression.ts";
import type { RefusalsForm, RuleForm } from "./form.ts";
import { OF_ANSWER, OF_FAILURE } from "./names.ts";
import { answerScope, textIn, tryEvaluate } from "./reading.ts";
import type { Value } from "./value.ts";

/** What a form may say that an upstream means. */
const MEANINGS = [
  ...["moderated", "bad_input", "busy", "spent", "refused"],
  ...["broken", "slow", "cancelled", "unclear"],
] as readonly Meaning[];

export function isMeaning(word: unknown): word is Meaning {
  return MEANINGS.some((meaning) => meaning === word);
}

/** A hint to put after a problem: the meaning that is close to an unknown word, or else all meanings. */
export function nearMeaning(word: string): string {
  const near = suggest(word, MEANINGS);
  return near === undefined ? `; known: ${MEANINGS.join(", ")}` : `; did you mean "${near}"?`;
}

/** Whether an answer is of a certain kind. `code` is the upstream's own word in it. */
export type Rule = (answer: {
  readonly scope: Scope;
  readonly status: number;
  readonly code?: string | undefined;
}) => boolean;

export function compileRule(
  compiling: Compiling,
  form: RuleForm,
  allowed: ReadonlySet<string>,
  path: Path,
): Rule {
  const statuses = form.status === undefined ? undefined : [form.status].flat();
  const codes = form.code === undefined ? undefined : [form.code].flat().map(String);
  const condition = form.if === undefined ? undefined : compiling.value(form.if, allowed, [...path, "if"]);
  if (statuses === undefined && codes === undefined && condition === undefined)
    compiling.report(path, "must have status, code or if");
  return ({ scope, status, code }) => {
    if (statuses !== undefined && !statuses.includes(status)) return false;
    if (codes !== undefined && (code === undefined || !codes.includes(code))) return false;
    return condition === undefined || tryEvaluate(condition, scope) === true;
  };
}

/** How a form reads what an upstream says of a failure. */
export interface Refusals {
  /** The upstream's own word for it. */
  code(answer: UpstreamAnswer): string | undefined;
  read(upstream: Upstream, answer: UpstreamAnswer, told?: Told): Refusal;
}

/** What is known already of a failure. */
export interface Told {
  readonly meaning?: Meaning | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** @param fixed what expressions know beside the answer */
export function compileRefusals(compiling: Compiling, form: RefusalsForm = {}, fixed: Scope = {}): Refusals {
  const path: Path = ["refusals"];
  const value = (name: "code" | "message" | "retry_after"): Value | undefined => {
    const text = form[name];
    return text === undefined ? undefined : compiling.value(text, OF_ANSWER, [...path, name]);
  };
  const [codeValue, message, retryAfter] = [value("code"), value("message"), value("retry_after")];
  const rules = (form.when ?? []).map(({ means, ...rule }, i) => ({
    // The form's schema knows the meanings.
    means: means as Meaning,
    holds: compileRule(compiling, rule, OF_FAILURE, [...path, "when", i]),
  }));
  const codeOf = (answer: UpstreamAnswer, scope: Scope) => {
    if (codeValue !== undefined) return textIn(codeValue, scope);
    const { code, type } = readErrorWords(answer);
    return code ?? type;
  };
  return {
    code: (answer) => codeOf(answer, { ...fixed, ...answerScope(answer) }),
    read(upstream, answer, told = {}) {
      const scope = { ...fixed, ...answerScope(answer) };
      const words = readErrorWords(answer);
      const code = told.code ?? codeOf(answer, scope);
      const text = told.message ?? textIn(message, scope) ?? words.message;
      const { status } = answer;
      const seen = { scope: { ...scope, code: code ?? "", message: text ?? "" }, status, code };
      const meaning =
        told.meaning ?? rules.find(({ holds }) => holds(seen))?.means ?? meaningOfError(status, words);
      const said = { word: code, message: text };
      const refusal = refusalOf(upstream, answer, meaning, said);
      return { ...refusal, retryAfterMs: longer(refusal.retryAfterMs, delayOf(retryAfter, scope)) };
    },
  };
}

/** Seconds, as a number or a text such as `30s`; the first of a list. */
function delayOf(value: Value | undefined, scope: Scope): number | undefined {
  const given = tryEvaluate(value, scope);
  const first = Array.isArray(given) ? given[0] : given;
  const seconds = typeof first === "string" ? Number(/^([\d.]+)\s*s?$/.exec(first.trim())?.[1]) : first;
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds < 0) return undefined;
  return Math.min(Math.ceil(seconds * 1000), LONGEST_DELAY_MS);
}

function longer(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined ? second : Math.max(first, second ?? 0);
}

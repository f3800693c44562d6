import type { TaskErrorCode } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { type PollResult, ProviderError } from "../../domain/ports/provider.ts";
import { LONGEST_DELAY_MS } from "../../domain/task/backoff.ts";
import { parseRetryAfterMs } from "../../toolkit/retry-after.ts";
import type { UpstreamAnswer } from "./answer.ts";
import { NoAnswer, requestIdIn, type Upstream } from "./http.ts";
import { consequenceOf, type Meaning, type Refusal, refusedByQuestion, refusedOf } from "./refusal.ts";
import { type ErrorWords, readErrorWords, waitIn } from "./said.ts";
import { vetted } from "./scrub.ts";

/** What an upstream says of a failure, in its own words. */
export interface Said {
  readonly word?: string | undefined;
  readonly message?: string | undefined;
}

/** A refusal with this meaning, from the answer that says it. */
export function refusalOf(upstream: Upstream, answer: UpstreamAnswer, meaning: Meaning, said: Said): Refusal {
  return {
    meaning,
    detail: describeAnswer(upstream, answer, said),
    inputProblem: said.message === undefined ? undefined : upstream.scrub(said.message),
    retryAfterMs: retryAfterMs(answer.headers) ?? (meaning === "busy" ? toldWaitMs(answer, said) : undefined),
    status: answer.status,
  };
}

/** How long the message of an answer to too many requests asks to wait, as far as a task waits at all. */
function toldWaitMs({ status }: UpstreamAnswer, { message }: Said): number | undefined {
  const delayMs = status === 429 ? waitIn(message) : undefined;
  return delayMs === undefined ? undefined : Math.min(delayMs, LONGEST_DELAY_MS);
}

/** The meaning of an upstream's own error code; undefined for one that its table does not have. */
export function meaningOfWord(table: Readonly<Record<string, Meaning>>, word: string | undefined) {
  return word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
}

/** The meaning of a status, where the answer's own error code is missing or unknown. */
export function meaningOfStatus(status: number): Meaning {
  if (status === 400 || status === 413 || status === 422) return "bad_input";
  if (status === 402) return "spent";
  if (status === 408 || status === 425 || status === 429 || status === 503 || status === 529) return "busy";
  // The first request with this key may still be running.
  if (status === 409) return "unclear";
  // See Other: it was taken, and what came of it is elsewhere.
  if (status === 303) return "unclear";
  // A proxy in front of the upstream waited in vain.
  if (status === 504 || status === 524) return "slow";
  return status >= 500 || status < 300 ? "unclear" : "refused";
}

/**
 * The meaning of an error of a submission that came without a known code. A 500 in the application's own words means that it tried and
 * failed. From a proxy, or of a timeout, it means nothing: the request may go on.
 */
export function meaningOfError(status: number, words: ErrorWords): Meaning {
  if (!FAILED.has(status) || !words.isApplications) return meaningOfStatus(status);
  const said = `${words.code ?? ""} ${words.type ?? ""} ${words.message ?? ""}`;
  return /time[d_ -]?\s?out|deadline/i.test(said) ? "slow" : "broken";
}

/** Statuses with which an application reports its own failure. A proxy in front of it sends 502 and 504. */
const FAILED: ReadonlySet<number> = new Set([500, 501, 507]);

/** The error for an answer whose status is a success, but which holds no result. */
export function unusableAnswer(detail: string): ProviderError {
  const publicMessage = "The provider answered without a usable result.";
  return new ProviderError("unusable", "UPSTREAM_ERROR", detail, { publicMessage });
}

/** The error for an answer whose status is a success, but which lacks its result. An application may say in it what went wrong. */
export function answerWithout(upstream: Upstream, answer: UpstreamAnswer, result: string): ProviderError {
  const { isApplications, code, type, message } = readErrorWords(answer);
  const said = isApplications ? { word: code ?? type, message } : {};
  return unusableAnswer(`${describeAnswer(upstream, answer, said)}, but with no ${result}`);
}

/** The error for a refused submission. Use `broken`, which means not accepted, only when the upstream says so. */
export function refusedSubmission(refusal: Refusal): ProviderError {
  const { meaning, detail, retryAfterMs } = refusal;
  const { disposition, code } = consequenceOf(meaning);
  const publicMessage = publicMessageOf(refusal);
  const isFailure = meaning === "broken";
  return new ProviderError(disposition, code, detail, {
    retryAfterMs,
    publicMessage,
    refused: refusedOf(refusal),
    isFailure,
    isTooOften: meaning === "busy" && refusal.status === 429,
    isUnable: refusal.status >= 500,
  });
}

/** The error for a refusal of what comes before a submission, such as a token or an upload. The upstream cannot have taken the job. */
export function refusedBeforehand(refusal: Refusal): ProviderError {
  const error = refusedSubmission(refusal);
  if (error.disposition !== "unknown") return error;
  return new ProviderError("retry", error.code, error.message, error.details, error);
}

/** The poll result of an accepted job that ended without output. */
export function failedJob(refusal: Refusal): PollResult {
  if (refusal.meaning === "cancelled") return { kind: "cancelled" };
  const { code, disposition } = consequenceOf(refusal.meaning);
  const message = publicMessageOf(refusal);
  const mayReroute = disposition === "retry" || disposition === "reroute";
  return {
    kind: "failed",
    code,
    detail: refusal.detail,
    ...(message === undefined ? {} : { message }),
    ...(mayReroute ? { mayReroute } : {}),
  };
}

function publicMessageOf({ meaning, inputProblem }: Refusal): string | undefined {
  if (meaning !== "bad_input") return undefined;
  const problem = vetted(inputProblem);
  return problem === undefined ? undefined : `The provider refused this request: ${problem}`;
}

/** Throws for a submission without an answer. The outcome is unknown, unless the request never left. */
export function unansweredSubmission(error: unknown): never {
  if (!(error instanceof NoAnswer)) throw error;
  if (error.refusal !== undefined) throw refusedBeforehand(error.refusal);
  throw new ProviderError(error.isUnsent ? "retry" : "unknown", codeOf(error), error.message);
}

/** Throws for a status request without a usable answer. It says nothing about the job. */
export function unansweredQuestion(error: unknown): never {
  if (!(error instanceof NoAnswer)) throw error;
  const { refusal } = error;
  throw new ProviderError("retry", codeOf(error), error.message, {
    ...(refusal && {
      retryAfterMs: refusal.retryAfterMs,
      refused: refusedByQuestion(refusal),
      isUnable: refusal.status >= 500,
    }),
  });
}

function codeOf({ isLate }: NoAnswer): TaskErrorCode {
  return isLate ? "UPSTREAM_TIMEOUT" : "UPSTREAM_ERROR";
}

/** Whether an answer names another job than the one that was asked about: a cache or a proxy on the way has mixed them up. */
export function isOfAnother(named: Json | undefined, id: string): boolean {
  return typeof named === "string" && named !== id;
}

/** How long an answer asks to wait, as far as a task waits at all. */
export function retryAfterMs(headers: Headers): number | undefined {
  const delayMs = parseRetryAfterMs((name) => headers.get(name));
  return delayMs === undefined ? undefined : Math.min(delayMs, LONGEST_DELAY_MS);
}

/** Describes an answer in one line for the operator. */
export function describeAnswer(
  { name, scrub, requestIdHeaders }: Pick<Upstream, "name" | "scrub" | "requestIdHeaders">,
  { status, headers }: Pick<UpstreamAnswer, "status" | "headers">,
  said: Said = {},
): string {
  const id = requestIdIn({ scrub, requestIdHeaders }, headers);
  const parts = [`${name} answered ${status}`, said.word ?? "", said.message ? `"${said.message}"` : ""];
  return scrub(
    `${parts.filter((part) => part !== "").join(" ")}${id === undefined ? "" : ` (request ${id})`}`,
  );
}

import type { TaskErrorCode } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { type Disposition, type PollResult, ProviderError } from "../../domain/ports/provider.ts";
import { parseRetryAfterMs } from "../../toolkit/retry-after.ts";
import { NoAnswer, type Upstream, type UpstreamAnswer } from "./http.ts";
import { vetted } from "./scrub.ts";

/** What a refusal means, whichever words the upstream uses, and what becomes of the attempt and of its task. */
const MEANINGS = {
  /** Its content policy refuses the request. */
  moderated: { disposition: "fail", code: "CONTENT_MODERATED" },
  /** The request is wrong. */
  bad_input: { disposition: "fail", code: "UPSTREAM_REJECTED" },
  /** Try again later. */
  busy: { disposition: "retry", code: "UPSTREAM_CAPACITY_EXHAUSTED" },
  /** Our account there has no money left. */
  spent: { disposition: "reroute", code: "UPSTREAM_CAPACITY_EXHAUSTED" },
  /** It rejects our key, our account or this route. */
  refused: { disposition: "reroute", code: "UPSTREAM_REJECTED" },
  /** It tried and failed. */
  broken: { disposition: "retry", code: "UPSTREAM_ERROR" },
  /** It timed out by itself. */
  slow: { disposition: "unknown", code: "UPSTREAM_TIMEOUT" },
  /** We cancelled the job. */
  cancelled: { disposition: "unknown", code: "UPSTREAM_ERROR" },
  /** The job may still be running. */
  unclear: { disposition: "unknown", code: "UPSTREAM_ERROR" },
} as const satisfies Record<string, { disposition: Disposition; code: TaskErrorCode }>;
export type Meaning = keyof typeof MEANINGS;

/** A refusal as the upstream gave it. Its texts are scrubbed. */
export interface Refusal {
  readonly meaning: Meaning;
  /** For the operator: status, error code, message, request id. */
  readonly detail: string;
  /** What the upstream says about a bad input. */
  readonly inputProblem?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

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
    retryAfterMs: retryAfterMs(answer.headers),
  };
}

/** The meaning of an upstream's own error code; undefined for one that its table does not have. */
export function meaningOfWord(table: Readonly<Record<string, Meaning>>, word: string | undefined) {
  return word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
}

/** A text that says something. */
export function textIn(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The meaning of a status, where the answer's own error code is missing or unknown. */
export function meaningOfStatus(status: number): Meaning {
  if (status === 400 || status === 413 || status === 422) return "bad_input";
  if (status === 402) return "spent";
  if (status === 408 || status === 425 || status === 429 || status === 503 || status === 529) return "busy";
  // The first request with this key may still be running.
  if (status === 409) return "unclear";
  return status >= 500 || status < 300 ? "unclear" : "refused";
}

/** The error for a refused submission. Use `broken`, which means not accepted, only when the upstream says so. */
export function refusedSubmission(refusal: Refusal): ProviderError {
  const { meaning, detail, retryAfterMs } = refusal;
  const { disposition, code } = MEANINGS[meaning];
  const publicMessage = publicMessageOf(refusal);
  return new ProviderError(disposition, code, detail, { retryAfterMs, publicMessage });
}

/** The poll result of an accepted job that ended without output. */
export function failedJob(refusal: Refusal): PollResult {
  if (refusal.meaning === "cancelled") return { kind: "cancelled" };
  const message = publicMessageOf(refusal);
  return {
    kind: "failed",
    code: MEANINGS[refusal.meaning].code,
    ...(message === undefined ? {} : { message }),
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
  throw new ProviderError(error.isUnsent ? "retry" : "unknown", "UPSTREAM_ERROR", error.message);
}

/** Throws for a status request without a usable answer. It says nothing about the job. */
export function unansweredQuestion(error: unknown): never {
  if (!(error instanceof NoAnswer)) throw error;
  throw new ProviderError("retry", "UPSTREAM_ERROR", error.message);
}

/** A task waits no longer than this at a time. */
const RETRY_AFTER_MAX_MS = 600_000;

/** How long an answer asks to wait, ten minutes at most. */
export function retryAfterMs(headers: Headers): number | undefined {
  const delayMs = parseRetryAfterMs((name) => headers.get(name));
  return delayMs === undefined ? undefined : Math.min(delayMs, RETRY_AFTER_MAX_MS);
}

/** Describes an answer in one line for the operator. */
export function describeAnswer(
  { name, scrub, requestIdHeaders }: Pick<Upstream, "name" | "scrub" | "requestIdHeaders">,
  { status, headers }: Pick<UpstreamAnswer, "status" | "headers">,
  said: Said = {},
): string {
  const id = requestIdHeaders.map((header) => headers.get(header)).find((value) => value !== null);
  const parts = [`${name} answered ${status}`, said.word ?? "", said.message ? `"${said.message}"` : ""];
  return scrub(
    `${parts.filter((part) => part !== "").join(" ")}${id === undefined ? "" : ` (request ${id})`}`,
  );
}

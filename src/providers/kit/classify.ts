import type { TaskErrorCode } from "../../domain/errors.ts";
import { type Disposition, type PollResult, ProviderError } from "../../domain/ports/provider.ts";
import { parseRetryAfterMs } from "../../toolkit/retry-after.ts";
import { NoAnswer, type Upstream, type UpstreamAnswer } from "./http.ts";
import { vetted } from "./scrub.ts";

/**
 * What a refusal means, whichever words the upstream uses.
 * - `moderated`: its content policy refuses the request
 * - `bad_input`: the request is wrong
 * - `busy`: try again later
 * - `spent`: our account there has no money left
 * - `refused`: it rejects our key, our account or this route
 * - `broken`: it tried and failed
 * - `slow`: it timed out by itself
 * - `cancelled`: we cancelled the job
 * - `unclear`: the job may still be running
 */
export type Meaning =
  | "moderated"
  | "bad_input"
  | "busy"
  | "spent"
  | "refused"
  | "broken"
  | "slow"
  | "cancelled"
  | "unclear";

/** A refusal as the upstream gave it. Its texts are scrubbed. */
export interface Refusal {
  readonly meaning: Meaning;
  /** For the operator: status, error code, message, request id. */
  readonly detail: string;
  /** What the upstream says about a bad input. */
  readonly inputProblem?: string | undefined;
  readonly retryAfterMs?: number | undefined;
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

const CODES = {
  moderated: "CONTENT_MODERATED",
  bad_input: "UPSTREAM_REJECTED",
  busy: "UPSTREAM_CAPACITY_EXHAUSTED",
  spent: "UPSTREAM_CAPACITY_EXHAUSTED",
  refused: "UPSTREAM_REJECTED",
  broken: "UPSTREAM_ERROR",
  slow: "UPSTREAM_TIMEOUT",
  cancelled: "UPSTREAM_ERROR",
  unclear: "UPSTREAM_ERROR",
} as const satisfies Record<Meaning, TaskErrorCode>;

const DISPOSITIONS = {
  moderated: "fail",
  bad_input: "fail",
  busy: "retry",
  spent: "reroute",
  refused: "reroute",
  broken: "retry",
  slow: "unknown",
  cancelled: "unknown",
  unclear: "unknown",
} as const satisfies Record<Meaning, Disposition>;

/**
 * The error for a refused submission. `broken` counts as not accepted, so use it only when the upstream has said that the
 * attempt is over.
 */
export function refusedSubmission(refusal: Refusal): ProviderError {
  const { meaning, detail, retryAfterMs } = refusal;
  return new ProviderError(DISPOSITIONS[meaning], CODES[meaning], detail, {
    retryAfterMs,
    publicMessage: publicMessageOf(refusal),
  });
}

/** The poll result of an accepted job that ended without output. */
export function failedJob(refusal: Refusal): PollResult {
  if (refusal.meaning === "cancelled") return { kind: "cancelled" };
  const message = publicMessageOf(refusal);
  return { kind: "failed", code: CODES[refusal.meaning], ...(message === undefined ? {} : { message }) };
}

function publicMessageOf({ meaning, inputProblem }: Refusal): string | undefined {
  if (meaning !== "bad_input") return undefined;
  const problem = vetted(inputProblem);
  return problem === undefined ? undefined : `The provider refused this request: ${problem}`;
}

/** The error for a submission without an answer. The outcome is unknown, unless the request never left. */
export function unansweredSubmission(error: unknown): unknown {
  if (!(error instanceof NoAnswer)) return error;
  return new ProviderError(error.isUnsent ? "retry" : "unknown", "UPSTREAM_ERROR", error.message);
}

/** The error for a status request without a usable answer. It says nothing about the job. */
export function unansweredQuestion(error: unknown): unknown {
  if (!(error instanceof NoAnswer)) return error;
  return new ProviderError("retry", "UPSTREAM_ERROR", error.message);
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
  said: { readonly word?: string | undefined; readonly message?: string | undefined } = {},
): string {
  const id = requestIdHeaders.map((header) => headers.get(header)).find((value) => value !== null);
  const parts = [`${name} answered ${status}`, said.word ?? "", said.message ? `"${said.message}"` : ""];
  return scrub(
    `${parts.filter((part) => part !== "").join(" ")}${id === undefined ? "" : ` (request ${id})`}`,
  );
}

import type { TaskErrorCode } from "../../domain/errors.ts";
import type { Disposition } from "../../domain/ports/provider.ts";

/** What a refusal means, whichever words the upstream uses, and what becomes of the attempt and of its task. */
const MEANINGS = {
  /** Its content policy refuses the request. */
  moderated: { disposition: "fail", code: "CONTENT_MODERATED" },
  /** The request is wrong. */
  bad_input: { disposition: "fail", code: "UPSTREAM_REJECTED" },
  /** Try again later. */
  busy: { disposition: "retry", code: "UPSTREAM_CAPACITY_EXHAUSTED" },
  /** Our account there has no money left. */
  spent: { disposition: "reroute", code: "NO_ROUTE_AVAILABLE" },
  /** It rejects our key, our account or this route. */
  refused: { disposition: "reroute", code: "NO_ROUTE_AVAILABLE" },
  /** It is another instance of this service, and too many have passed the request on. */
  looped: { disposition: "reroute", code: "LOOP_DETECTED" },
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

/** What becomes of an attempt, and the error of its task, by the meaning of the refusal. */
export function consequenceOf(meaning: Meaning): {
  readonly disposition: Disposition;
  readonly code: TaskErrorCode;
} {
  return MEANINGS[meaning];
}

/** Whether a refusal is of our key or our account. */
export function isOfAccount(meaning: Meaning): boolean {
  return meaning === "spent" || meaning === "refused";
}

/** A refusal as the upstream gave it. Its texts are scrubbed. */
export interface Refusal {
  readonly meaning: Meaning;
  /** For the operator: status, error code, message, request id. */
  readonly detail: string;
  /** What the upstream says about a bad input. */
  readonly inputProblem?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

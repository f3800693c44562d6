import type { TaskErrorCode } from "../../domain/errors.ts";
import type { Disposition, ProviderError } from "../../domain/ports/provider.ts";

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

/** A refusal as the upstream gave it. Its texts are scrubbed. */
export interface Refusal {
  readonly meaning: Meaning;
  /** For the operator: status, error code, message, request id. */
  readonly detail: string;
  /** What the upstream says about a bad input. */
  readonly inputProblem?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The status that it came with. */
  readonly status: number;
}

type Refused = NonNullable<ProviderError["details"]["refused"]>;

/** What a refusal says of our account; undefined where it concerns the request alone. */
export function refusedOf({ meaning, status }: Pick<Refusal, "meaning" | "status">): Refused | undefined {
  if (meaning === "spent") return "spent";
  if (meaning !== "refused") return undefined;
  return status === 401 || status === 403 ? "key" : "route";
}

/** What an answer to a question about a job says of our account. That the job is unknown says nothing of it. */
export function refusedByQuestion(refusal: Pick<Refusal, "meaning" | "status">): Refused | undefined {
  const refused = refusedOf(refusal);
  return refused === "route" ? undefined : refused;
}

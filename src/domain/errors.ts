import type { Demand } from "./words/demand.ts";
import type { Given, NameOf } from "./words/say.ts";
import { describe, type Facts, fieldOf } from "./words/words.ts";

/** Codes of HTTP answers. Stable: never renamed, never reused. `http/problem.ts` has the status of each. */
export const ERROR_CODES = [
  "invalid_request",
  "invalid_api_key",
  "insufficient_quota",
  "permission_denied",
  "rate_limit_exceeded",
  "model_not_available",
  "model_not_found",
  "task_not_found",
  "not_found",
  "method_not_allowed",
  "wrong_node",
  "request_too_large",
  "unsupported_media_type",
  "content_policy_violation",
  "moderation_unavailable",
  "task_not_cancellable",
  "task_not_retryable",
  "task_not_deletable",
  "invalid_idempotency_key",
  "idempotency_conflict",
  "idempotency_in_progress",
  "idempotency_unavailable",
  "sync_image_timeout",
  "upstream_timeout",
  "service_unavailable",
  "disk_low",
  "loop_detected",
  "internal_error",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorDetails {
  /** Seconds after which a retry makes sense; becomes `Retry-After`. */
  readonly retryAfterSec?: number | undefined;
  /** Whether a client library should send the same request again by itself; becomes `x-should-retry`. */
  readonly shouldRetry?: boolean | undefined;
  /** The task that the request made, if the request ends before its task; becomes `X-Task-Id`. */
  readonly taskId?: string | undefined;
  /** Methods that the path does accept; becomes `Allow`. */
  readonly allow?: readonly string[] | undefined;
}

/** What ends a request: a code and facts, from which the reader's message is made. Customers may see all of it, except `cause`. */
export class AppError extends Error {
  override readonly name = "AppError";
  #nameOf: NameOf = (field) => field;

  static {
    // The base class declares a property, and the compiler lets no accessor override it.
    Object.defineProperty(AppError.prototype, "message", {
      get(this: AppError) {
        return describe(this.facts, this.#nameOf);
      },
    });
  }

  constructor(
    readonly code: ErrorCode,
    readonly facts: Facts,
    readonly details: ErrorDetails = {},
    cause?: unknown,
  ) {
    super(undefined, cause === undefined ? undefined : { cause });
  }

  /** Path of the field at fault, `image_urls[2]`, in the reader's names. */
  get param(): string | undefined {
    return fieldOf(this.facts, this.#nameOf);
  }

  /** The same error, with `nameOf` translating the field names that it has used so far. */
  renamed(nameOf: NameOf): AppError {
    const renamed = new AppError(this.code, this.facts, this.details, this.cause);
    const inner = this.#nameOf;
    renamed.#nameOf = (field) => nameOf(inner(field));
    return renamed;
  }
}

/** A request that cannot be processed as it is. */
export function invalid(facts: Facts, cause?: unknown): AppError {
  return new AppError("invalid_request", facts, {}, cause);
}

/** A field with a value that is not allowed: `concurrency must be an integer from 1 to 10000, got 0.` */
export function mustBe(field: string, must: Demand, given?: Given): AppError {
  return invalid({ kind: "must", field, must, given });
}

/**
 * Why an accepted task ended as `failed`, with the text for callers. A step may replace the text with a more exact one. Codes
 * are stable and upper-case; an upstream's own words never become one.
 */
export const TASK_ERROR_MESSAGES = {
  UPSTREAM_CAPACITY_EXHAUSTED:
    "No provider had capacity for this task. Submitting it again later may succeed.",
  UPSTREAM_TIMEOUT: "The provider did not answer in time.",
  UPSTREAM_ERROR: "The provider failed to generate this task.",
  UPSTREAM_REJECTED: "The provider refused this request.",
  CONTENT_MODERATED: "The provider's content policy refused this request.",
  INPUT_UNREACHABLE: "An input could not be fetched.",
  INPUT_INVALID: "An input is not a usable media file.",
  DEADLINE_EXCEEDED: "The task was not finished before its deadline.",
  FINALIZATION_FAILED: "The generated files could not be retrieved from the provider.",
  OUTCOME_UNKNOWN:
    "The provider's answer to this task was lost, and it cannot say whether it accepted the task.",
  LOOP_DETECTED: "This task was passed on through too many services, probably in a circle.",
  NO_ROUTE_AVAILABLE: "No provider can run this model at present.",
} as const;
/** Replaces the message of `OUTCOME_UNKNOWN` if this service caused the interruption. */
export const INTERRUPTED =
  "The service was interrupted while submitting this task, and the provider cannot say whether it was accepted.";
export type TaskErrorCode = keyof typeof TASK_ERROR_MESSAGES;
// The keys of the table are its codes.
export const TASK_ERROR_CODES = Object.keys(TASK_ERROR_MESSAGES) as [TaskErrorCode, ...TaskErrorCode[]];

export interface TaskError {
  readonly code: TaskErrorCode;
  /** Safe to show the owner of the task. */
  readonly message: string;
}

export function taskError(code: TaskErrorCode, message: string = TASK_ERROR_MESSAGES[code]): TaskError {
  return { code, message };
}

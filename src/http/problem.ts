import { AppError, type ErrorCode } from "../domain/errors.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import type { Manners } from "./facades/manners.ts";
import { mannersOf } from "./facades/spoken.ts";
import type { Reply } from "./reply.ts";

/** The HTTP status of every code (docs/api.md 3.3). */
export const STATUS = {
  invalid_request: 400,
  invalid_idempotency_key: 400,
  content_policy_violation: 400,
  invalid_api_key: 401,
  insufficient_quota: 402,
  permission_denied: 403,
  model_not_available: 404,
  model_not_found: 404,
  task_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  idempotency_in_progress: 409,
  task_not_cancellable: 409,
  task_not_retryable: 409,
  task_not_deletable: 409,
  request_too_large: 413,
  unsupported_media_type: 415,
  wrong_node: 421,
  rate_limit_exceeded: 429,
  internal_error: 500,
  idempotency_unavailable: 503,
  moderation_unavailable: 503,
  service_unavailable: 503,
  disk_low: 503,
  sync_image_timeout: 504,
  upstream_timeout: 504,
  loop_detected: 508,
} as const satisfies Record<ErrorCode, number>;

type Status = (typeof STATUS)[ErrorCode];

/** `type` in both envelopes, by status. */
export const TYPE = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "insufficient_quota_error",
  403: "permission_error",
  404: "invalid_request_error",
  405: "invalid_request_error",
  409: "invalid_request_error",
  413: "invalid_request_error",
  415: "invalid_request_error",
  421: "server_error",
  429: "rate_limit_error",
  500: "server_error",
  503: "server_error",
  504: "server_error",
  508: "server_error",
} as const satisfies Record<Status, string>;

/**
 * The error object that a caller reads: the standard one (docs/api.md 3.2), that of the compatible images API, or a facade's
 * own.
 */
export type Envelope = "standard" | "compatible" | Manners;

/** 401 is in the compatible envelope everywhere except below a facade's base. Everything below `/compat/v1` is in it too. */
export function envelopeFor(path: string, code: ErrorCode): Envelope {
  const manners = mannersOf(path);
  if (manners !== undefined) return manners;
  return code === "invalid_api_key" || path.startsWith("/compat/") ? "compatible" : "standard";
}

/**
 * The answer for an error, with the caller's names for the fields.
 *
 * @param isForImages the caller is a library of the images API, which finds the message in that API's object alone: where its base
 * address is wrong, it gets both
 */
export function problem(error: AppError, envelope: Envelope, isForImages = false): Reply {
  const status = STATUS[error.code];
  const { retryAfterSec, shouldRetry, taskId, allow } = error.details;
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (retryAfterSec !== undefined) headers["Retry-After"] = String(retryAfterSec);
  if (shouldRetry !== undefined) headers["x-should-retry"] = String(shouldRetry);
  if (taskId !== undefined) headers["X-Task-Id"] = taskId;
  if (allow !== undefined) headers.Allow = allow.join(", ");
  if (status === 401) headers["WWW-Authenticate"] = "Bearer";
  if (typeof envelope === "object") {
    const told = envelope.tell(error, status);
    const { status: otherStatus = status, body } = told;
    return { status: otherStatus, headers: { ...headers, ...told.headers }, body: JSON.stringify(body) };
  }
  const type = TYPE[status];
  const { message, param } = error;
  const compatible = { error: { message, type, code: error.code, param } };
  const standard = { code: status, message, data: { type, error_code: error.code, param } };
  const other = isForImages ? { ...standard, ...compatible } : standard;
  const body = envelope === "compatible" ? compatible : other;
  return { status, headers, body: JSON.stringify(body) };
}

/** Turns anything thrown into an AppError. */
export function toAppError(error: unknown, hasIdempotencyKey: boolean): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof StorageError) {
    const code = hasIdempotencyKey ? "idempotency_unavailable" : "service_unavailable";
    return new AppError(code, { kind: "cannot_store" }, { retryAfterSec: 5 }, error);
  }
  return new AppError("internal_error", { kind: "defect" }, {}, error);
}

import { AppError, type ErrorCode, type ErrorDetails, type TaskErrorCode } from "../domain/errors.ts";
import type { TaskId } from "../domain/ids.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import type { TaskSummary } from "../domain/task/task.ts";

/**
 * The code of the HTTP answer for each way in which a task fails. It depends on who caused the failure; 400 means that the
 * caller's input did.
 */
const MEANING = {
  CONTENT_MODERATED: "content_policy_violation",
  INPUT_INVALID: "invalid_request",
  INPUT_UNREACHABLE: "invalid_request",
  UPSTREAM_REJECTED: "invalid_request",
  UPSTREAM_CAPACITY_EXHAUSTED: "service_unavailable",
  NO_ROUTE_AVAILABLE: "service_unavailable",
  LOOP_DETECTED: "loop_detected",
  UPSTREAM_TIMEOUT: "upstream_timeout",
  UPSTREAM_ERROR: "internal_error",
  DEADLINE_EXCEEDED: "internal_error",
  FINALIZATION_FAILED: "internal_error",
  OUTCOME_UNKNOWN: "internal_error",
} as const satisfies Record<TaskErrorCode, ErrorCode>;

const CAPACITY_RETRY_SEC = 5;
const UNREAD_RETRY_SEC = 5;

/** The error of a call whose task failed or was cancelled. The task cost nothing. */
export function endedWithoutImages({ id, error }: TaskSummary): AppError {
  if (error === undefined) {
    const details = { taskId: id, shouldRetry: false };
    return new AppError("invalid_request", { kind: "task_cancelled", task: id }, details);
  }
  const code = MEANING[error.code];
  return new AppError(
    code,
    { kind: "task_failed", task: id, error },
    { taskId: id, ...againAfter(error.code) },
  );
}

/** Whether to send the call again. Says nothing if only an operator can help. */
function againAfter(code: TaskErrorCode): Pick<ErrorDetails, "retryAfterSec" | "shouldRetry"> {
  if (code === "UPSTREAM_CAPACITY_EXHAUSTED") return { retryAfterSec: CAPACITY_RETRY_SEC, shouldRetry: true };
  return code === "NO_ROUTE_AVAILABLE" ? {} : { shouldRetry: false };
}

/** The wait ended before the task (docs/api.md 5.4). A repeated request would make and charge for another task. */
export function goneOn(id: TaskId): AppError {
  const details = { taskId: id, shouldRetry: false };
  return new AppError("sync_image_timeout", { kind: "task_goes_on", task: id }, details);
}

/** The service stops. The task continues after the restart, and an equal request joins it. */
export function stopping(id: TaskId): AppError {
  const details = { taskId: id, retryAfterSec: 2, shouldRetry: true };
  return new AppError("service_unavailable", { kind: "task_goes_on_later", task: id }, details);
}

/** A store that cannot be read says nothing about what was accepted before: as it is, its error says that nothing was kept. */
export function unread(id: TaskId, error: unknown): unknown {
  if (!(error instanceof StorageError)) return error;
  const details = { taskId: id, retryAfterSec: UNREAD_RETRY_SEC, shouldRetry: true };
  return new AppError("service_unavailable", { kind: "task_unread", task: id }, details, error);
}

import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import type { TaskId } from "../domain/ids.ts";
import type { Micros } from "../domain/money/money.ts";
import type { AdmitResult } from "../domain/ports/task-store.ts";
import type { NewTask } from "../domain/task/task.ts";

/** A create that was accepted. */
export interface CreatedTask {
  readonly taskId: TaskId;
  /** The amount held. */
  readonly held: Micros;
  /** Whether this repeats the answer to an earlier create with the same idempotency key. */
  readonly replayed: boolean;
  /** The stored task; absent if this repeats an answer. */
  readonly task?: NewTask | undefined;
}

/** Nobody knows when one of the key's tasks will end; images take seconds. */
const TOO_MANY_TASKS_RETRY_SEC = 2;

/**
 * The answer to a create that stored nothing new.
 * @throws AppError with the code that says why it was refused
 */
export function answer(
  result: Exclude<AdmitResult, { kind: "admitted" }>,
  principal: Principal,
): CreatedTask {
  switch (result.kind) {
    case "replayed":
      return { taskId: result.taskId, held: result.held, replayed: true };
    case "conflict":
      throw new AppError("idempotency_conflict", { kind: "idempotency_conflict" }, { shouldRetry: false });
    case "insufficient_quota": {
      const { limitedBy, available, needed } = result;
      const facts = { kind: "insufficient", limitedBy, available, needed } as const;
      throw new AppError("insufficient_quota", facts, { shouldRetry: false });
    }
    case "too_many_tasks": {
      const { concurrency } = principal.policy;
      const details = { retryAfterSec: TOO_MANY_TASKS_RETRY_SEC };
      throw new AppError("rate_limit_exceeded", { kind: "too_many_tasks", concurrency }, details);
    }
  }
}

import type { Log } from "../domain/ports/runtime.ts";
import type { Lease } from "../domain/task/task.ts";
import type { Transition } from "../domain/task/transition.ts";

/** Logs how a task ended. */
export function logEnding(log: Log, { task }: Lease, { ending, attempt, at }: Transition): void {
  const fields = {
    task: task.id,
    model: task.model,
    status: ending?.status,
    error_code: ending?.error?.code,
    detail: attempt?.detail,
    // The clock may have been set back meanwhile.
    ms: Math.max(0, at - task.createdAt),
  };
  if (ending?.status === "failed") log.warn(fields, "task failed");
  else log.info(fields, `task ${ending?.status}`);
}

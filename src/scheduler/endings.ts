import type { Log } from "../domain/ports/runtime.ts";
import type { Tally } from "../domain/ports/tally.ts";
import type { Lease } from "../domain/task/task.ts";
import type { Transition } from "../domain/task/transition.ts";

/** Tells the tally of a task that was completed or failed. */
export function tellEnding(
  { ended }: Pick<Tally, "ended">,
  { task }: Lease,
  { ending, at }: Transition,
): void {
  if (ending === undefined || ending.status === "cancelled") return;
  const { status, charged } = ending;
  ended({ model: task.model, provider: task.lane, status, durationMs: at - task.createdAt, charged });
}

/** Logs how a task ended. */
export function logEnding(log: Log, { task }: Lease, { ending, attempt, at }: Transition): void {
  const fields = {
    task: task.id,
    model: task.model,
    status: ending?.status,
    error_code: ending?.error?.code,
    detail: attempt?.detail,
    ms: at - task.createdAt,
  };
  if (ending?.status === "failed") log.warn(fields, "task failed");
  else log.info(fields, `task ${ending?.status}`);
}

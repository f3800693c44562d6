import type { Principal } from "../../../domain/access/account.ts";
import type { TaskId } from "../../../domain/ids.ts";
import { type CancelTaskDeps, cancelTask } from "../../../service/cancel-task.ts";
import { nextChange, readTask } from "../../../service/read-task.ts";
import { startTooLate } from "./failure.ts";

/**
 * Waits until a task has started, and cancels one that has not in time.
 * @throws AppError `upstream_timeout` for a task that was cancelled
 */
export async function startInTime(
  deps: CancelTaskDeps,
  principal: Principal,
  { id, withinMs, signal }: { readonly id: TaskId; readonly withinMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const deadline = deps.clock.elapsed() + withinMs;
  for (;;) {
    const change = nextChange(deps, id);
    try {
      const { status } = await readTask(deps, principal, id);
      const leftMs = deadline - deps.clock.elapsed();
      if (status !== "pending" || signal.aborted) return;
      if (leftMs <= 0) break;
      await change.within(leftMs, signal);
    } finally {
      change.stop();
    }
  }
  const { status } = await cancelTask(deps, principal, id);
  // It may have started in the very moment.
  if (status !== "cancelled") return;
  throw startTooLate(id);
}

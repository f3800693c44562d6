import { AppError } from "../../../domain/errors.ts";
import type { TaskId } from "../../../domain/ids.ts";
import { isTerminal } from "../../../domain/task/task.ts";
import { cancelTask } from "../../../service/cancel-task.ts";
import { readTask, type TaskReading } from "../../../service/read-task.ts";
import { watchTask } from "../../../service/watch-task.ts";
import { whileAllowed } from "../../standing.ts";
import type { McpDeps } from "./deps.ts";
import type { ToolCall } from "./tool.ts";

export interface Followed {
  readonly id: TaskId;
  readonly waitMs: number;
  /** Whether the call created the task, so that who cancels the call means the task. */
  readonly isOwn: boolean;
}

/**
 * Waits for a task's end, and tells the client how far it is. The wait ends early when the client leaves, its key is revoked or the
 * service stops; the task goes on then. A client that cancels the call that created the task has
 * it cancelled.
 * @returns the task as it is then
 * @throws AppError `task_not_found`; the refusal of a caller that may not be answered any more
 */
export function followTask(
  deps: McpDeps,
  call: ToolCall,
  { id, waitMs, isOwn }: Followed,
): Promise<TaskReading> {
  const { exchange, cancelled } = call;
  return whileAllowed(exchange.standing, async (refused) => {
    const over = new AbortController();
    const stopTimer = deps.clock.after(waitMs, () => over.abort());
    const signal = AbortSignal.any([
      ...[exchange.request.signal, deps.stopping, refused, cancelled],
      over.signal,
    ]);
    try {
      if (waitMs > 0) await tellProgress(deps, call, id, signal);
    } finally {
      stopTimer();
    }
    if (isOwn && cancelled.aborted) await cancelQuietly(deps, call, id);
    return readTask(deps, exchange.principal, id);
  });
}

async function tellProgress(deps: McpDeps, call: ToolCall, id: TaskId, signal: AbortSignal): Promise<void> {
  let told = -1;
  for await (const event of watchTask(deps, call.exchange.principal, { id, signal })) {
    if (event.kind !== "state") continue;
    const { status, progress, queuePosition } = event.task;
    // The answer follows at once, and clients that have it know of no progress any more.
    if (isTerminal(status)) return;
    // Clients are promised that it grows.
    if (progress > told) await call.progress(progress, messageOf(status, queuePosition));
    told = Math.max(told, progress);
  }
}

function messageOf(status: string, queuePosition: number | undefined): string {
  return queuePosition === undefined || queuePosition === 0 ? status : `${status}, ${queuePosition} ahead`;
}

/** A task that has ended meanwhile stays as it is. */
async function cancelQuietly(deps: McpDeps, { exchange }: ToolCall, id: TaskId): Promise<void> {
  try {
    await cancelTask(deps, exchange.principal, id);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}

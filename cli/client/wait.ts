import { isTerminal, TASK_STATUSES, type TaskStatus } from "../../src/domain/task/task.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { formatDuration } from "../format/units.ts";
import type { Kind, TaskView } from "./answer.ts";
import type { Client } from "./client.ts";
import { backoffMs, type Timing } from "./retry.ts";

/** Longest a single status request waits; well below what proxies cut. */
const LONG_POLL_MS = 30_000;
/** A server that answers sooner than this although it was asked to wait does not wait. */
const TOO_SOON_MS = 1_000;

export interface WaitOptions {
  readonly kind: Kind;
  readonly id: string;
  readonly timeoutMs: number;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  /** Longest a single status request waits. */
  readonly longPollMs?: number | undefined;
  /** Told of the task each time it is read. */
  readonly onRead?: ((task: TaskView) => void) | undefined;
}

/** Reads a task until it has ended or the time is up. @returns it as it was last seen */
export async function awaitTask(client: Pick<Client, "status">, options: WaitOptions): Promise<TaskView> {
  const { kind, id, timing, signal } = options;
  const endsAt = timing.now() + options.timeoutMs;
  let unanswered = 0;
  for (;;) {
    const startedAt = timing.now();
    const waitMs = Math.min(options.longPollMs ?? LONG_POLL_MS, Math.max(0, endsAt - startedAt));
    const task = await client.status(kind, id, Math.floor(waitMs / 1000));
    options.onRead?.(task);
    const now = timing.now();
    if (hasEnded(task) || now >= endsAt) return task;
    unanswered = now - startedAt < TOO_SOON_MS ? unanswered + 1 : 0;
    if (unanswered > 0)
      await timing.sleep(Math.min(backoffMs(unanswered, timing.random()), endsAt - now), signal);
  }
}

export function hasEnded(task: TaskView): boolean {
  const statuses: readonly string[] = TASK_STATUSES;
  // A status this program does not know yet is one that goes on.
  return statuses.includes(task.status) && isTerminal(task.status as TaskStatus);
}

/** What the end of waiting means for the command: nothing when the task completed, else why it ends as it does. */
export function verdictOf(task: TaskView, timeoutMs: number): Failure | undefined {
  const { task_id: id, status } = task;
  if (status === "completed") return undefined;
  if (status === "cancelled") {
    return new Failure(EXIT.taskCancelled, "task_cancelled", `${id} was cancelled.`, {
      more: { task_id: id },
    });
  }
  if (status === "failed") {
    const reason = [task.error_message, task.error].find((text) => typeof text === "string");
    const code = typeof task.error_code === "string" ? task.error_code : "task_failed";
    return new Failure(EXIT.taskFailed, code, `${id} failed: ${reason ?? "no reason is given"}`, {
      more: { task_id: id },
    });
  }
  return new Failure(
    EXIT.stillRunning,
    "still_running",
    `${id} is still ${status} after ${formatDuration(timeoutMs)}.`,
    { hint: resumeHint(id), more: { task_id: id, status } },
  );
}

export function resumeHint(id: string): string {
  return `It goes on without you; \`svc task wait ${id}\` waits again.`;
}

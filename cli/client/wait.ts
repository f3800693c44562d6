import { isTerminal, TASK_STATUSES, type TaskStatus } from "../../src/domain/task/task.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { formatDuration } from "../format/units.ts";
import type { Kind, TaskView } from "./answer.ts";
import type { Client } from "./client.ts";
import { backoffMs, interrupted, isForGood, type Timing } from "./retry.ts";

/** Longest wait of a single status request, well below the limits of proxies. */
const LONG_POLL_MS = 30_000;
/** A server that answers sooner than this does not support waiting. */
const TOO_SOON_MS = 1_000;
/** Time for an answer, in addition to the wait that was requested. */
const [MIN_ANSWER_MS, MAX_ANSWER_MS] = [5_000, 30_000];
const MAX_RETRY_AFTER_MS = 60_000;

export interface WaitOptions {
  readonly kind: Kind;
  readonly id: string;
  readonly timeoutMs: number;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  /** Longest wait of a single status request. */
  readonly longPollMs?: number | undefined;
  /** Called with the task each time it is read. */
  readonly onRead?: ((task: TaskView) => void) | undefined;
  /** Called each time the server does not answer, or cannot. */
  readonly onTrouble?: ((failure: Failure) => void) | undefined;
}

/**
 * Reads a task until it has ended or the time is up. Outlives a server that goes away and comes back.
 *
 * @returns its last state
 * @throws Failure when the server refuses, does not answer when the time is up, or at Ctrl-C
 */
export async function awaitTask(client: Pick<Client, "readStatus">, options: WaitOptions): Promise<TaskView> {
  const { kind, id, timing, signal } = options;
  const endsAt = timing.now() + options.timeoutMs;
  let unanswered = 0;
  for (;;) {
    const startedAt = timing.now();
    const leftMs = Math.max(0, endsAt - startedAt);
    const waitMs = Math.min(options.longPollMs ?? LONG_POLL_MS, leftMs);
    const answerWithinMs = Math.min(MAX_ANSWER_MS, Math.max(MIN_ANSWER_MS, leftMs));
    const read = await client.readStatus(kind, id, { waitSec: Math.floor(waitMs / 1000), answerWithinMs });
    if (signal.aborted) throw interrupted();
    const now = timing.now();
    if (read.ok) {
      options.onRead?.(read.value);
      if (hasEnded(read.value) || now >= endsAt) return read.value;
    } else {
      if (isForGood(read) || now >= endsAt) throw read.failure;
      options.onTrouble?.(read.failure);
    }
    unanswered = read.ok && now - startedAt >= TOO_SOON_MS ? 0 : unanswered + 1;
    const askedMs = read.ok ? 0 : Math.min(read.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
    const delayMs = Math.max(askedMs, backoffMs(unanswered, timing.random()));
    if (unanswered > 0) await timing.sleep(Math.min(delayMs, endsAt - now), signal);
  }
}

export function hasEnded(task: TaskView): boolean {
  const statuses: readonly string[] = TASK_STATUSES;
  // An unknown status counts as not ended.
  return statuses.includes(task.status) && isTerminal(task.status as TaskStatus);
}

/** Why the command fails after waiting; undefined when the task completed. */
export function verdictOf(task: TaskView, timeoutMs: number): Failure | undefined {
  const { task_id: id, status } = task;
  if (status === "completed") return undefined;
  const more = { task_id: id };
  if (status === "cancelled")
    return new Failure(EXIT.taskCancelled, "task_cancelled", `${id} was cancelled.`, { more });
  if (status === "failed") {
    const reason = [task.error_message, task.error].find((text) => typeof text === "string");
    const code = typeof task.error_code === "string" ? task.error_code : "task_failed";
    return new Failure(EXIT.taskFailed, code, `${id} failed: ${reason ?? "no reason is given"}`, { more });
  }
  const message = `${id} is still ${status} after ${formatDuration(timeoutMs)}.`;
  return new Failure(EXIT.stillRunning, "still_running", message, {
    hint: resumeHint(id),
    more: { ...more, status },
  });
}

export function resumeHint(id: string): string {
  return `It goes on without you; \`svc task wait ${id}\` waits again.`;
}

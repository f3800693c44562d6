import type { Account, ApiKey } from "../access/account.ts";
import type { Callback, CallbackAttempt } from "../callback/callback.ts";
import type { TaskErrorCode } from "../errors.ts";
import type { Asset } from "../media/asset.ts";
import type { Micros } from "../money/money.ts";
import type { ChargeLine } from "../money/pricing.ts";
import { ATTEMPT_MESSAGES, TASK_ADVICE } from "../words/story-words.ts";
import { type Attempt, isTerminal, type Task } from "./task.ts";

/** A task's callback, and its latest send. */
export interface ToldCallback {
  readonly callback: Callback;
  readonly lastSend?: CallbackAttempt | undefined;
}

/** Everything that is stored about one task. */
export interface TaskStory {
  readonly task: Task;
  readonly account: Pick<Account, "id" | "name">;
  /** The key that created it. */
  readonly key: Pick<ApiKey, "id" | "name">;
  /** In order. */
  readonly attempts: readonly Attempt[];
  /** The files that its request names as inputs, without duplicates. */
  readonly inputs: readonly Asset[];
  /** The lines that add up to the charge; absent until the task has ended, and for a task that cost nothing. */
  readonly charge?: readonly ChargeLine[] | undefined;
  /** What was given back of the charge. */
  readonly refunded?: Micros | undefined;
  readonly callback?: ToldCallback | undefined;
}

export const TOLD_STAGES = ["queued", "submitting", "running", "finalizing", "ended"] as const;
export type ToldStage = (typeof TOLD_STAGES)[number];

/** A stage of a task, and when it began. */
export interface StageSpan {
  readonly stage: ToldStage;
  readonly at: number;
  /** How long it took, or has taken so far; absent for `ended`. */
  readonly durationMs?: number | undefined;
}

/**
 * The stages of a task in order, as far as their times were recorded. If the upstream answers a submission with the outputs,
 * the task is never `running`. Durations are never negative, even if the clock was set back.
 */
export function timelineOf(
  { task, attempts }: Pick<TaskStory, "task" | "attempts">,
  now: number,
): StageSpan[] {
  const { completedAt = Number.POSITIVE_INFINITY } = task;
  const began: { stage: ToldStage; at: number | undefined }[] = [{ stage: "queued", at: task.createdAt }];
  for (const { state, startedAt, acceptedAt, madeAt, endedAt } of attempts) {
    began.push({ stage: "submitting", at: startedAt });
    began.push({ stage: "running", at: acceptedAt }, { stage: "finalizing", at: madeAt });
    const isOver = state === "rejected" || state === "done";
    const isQueuedAgain = isOver && endedAt !== undefined && endedAt < completedAt;
    if (isQueuedAgain) began.push({ stage: "queued", at: endedAt });
  }
  began.push({ stage: "ended", at: task.completedAt });
  const known = began.flatMap(({ stage, at }) => (at === undefined ? [] : [{ stage, at }]));
  return known.map(({ stage, at }, i) => {
    if (stage === "ended") return { stage, at };
    return { stage, at, durationMs: Math.max(0, (known[i + 1]?.at ?? now) - at) };
  });
}

export const ATTEMPT_OUTCOMES = [
  "under_way",
  "completed",
  "failed",
  "cancelled",
  "refused",
  "unanswered",
] as const;

/** The outcome of an attempt, without anything that its upstream said. */
export interface AttemptVerdict {
  readonly outcome: (typeof ATTEMPT_OUTCOMES)[number];
  readonly errorCode?: TaskErrorCode | undefined;
  readonly message?: string | undefined;
}

/** What the owner of a task may know about one of its attempts. The error of the task is the error of its last attempt. */
export function verdictOf(task: Task, attempt: Attempt): AttemptVerdict {
  const { status, error, completedAt = Number.POSITIVE_INFINITY } = task;
  const isLast = attempt.sequence === task.attempts && (attempt.endedAt ?? completedAt) >= completedAt;
  const outcome = outcomeOf(task, attempt, isLast);
  if (status === "failed" && isLast && error !== undefined)
    return { outcome, errorCode: error.code, message: error.message };
  const isTold = outcome === "refused" || outcome === "unanswered" || outcome === "failed";
  return { outcome, message: isTold ? ATTEMPT_MESSAGES[outcome] : undefined };
}

function outcomeOf({ status }: Task, { state }: Attempt, isLast: boolean): AttemptVerdict["outcome"] {
  if (state === "rejected") return "refused";
  if (state === "ambiguous") return "unanswered";
  // The task went on after it.
  if (state === "done" && !isLast) return "failed";
  return isTerminal(status) && status !== "pending" && status !== "processing" ? status : "under_way";
}

/** What the owner of a task can do about its failure. */
export const adviceOf = (code: TaskErrorCode): string => TASK_ADVICE[code];

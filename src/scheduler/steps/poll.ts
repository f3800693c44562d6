import { taskError } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { type PollResult, type ProviderAdapter, ProviderError } from "../../domain/ports/provider.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import { nextPollDelayMs } from "../../domain/task/backoff.ts";
import type { Lease } from "../../domain/task/task.ts";
import { cancelled, snoozed } from "../../domain/task/transition.ts";
import {
  deadlineError,
  endedAtCost,
  retryLater,
  SETTLED,
  type StepDeps,
  type StepResult,
  settle,
  settleFailed,
  waitForProvider,
} from "../context.ts";
import { previewsOf } from "../previews.ts";
import { recordOutputs } from "./outputs.ts";

/** How soon to poll again after a cancel. */
const CANCEL_POLL_MS = 200;
/** Failed polls after which a cancelled task is ended, whatever its upstream does. */
const CANCEL_TRIES = 5;

/** Polls the upstream of a running task. A poll that fails never ends a task; only its deadline does. */
export async function poll(deps: StepDeps, lease: Lease, signal: AbortSignal): Promise<StepResult> {
  const { task, attempt } = lease;
  const adapter = attempt && deps.provider(attempt.provider);
  if (attempt?.operation === undefined) throw new Error(`Task ${task.id} is running without an operation`);
  if (adapter === undefined && !isLate(task, deps.clock.now())) return waitForProvider(deps, lease);
  if (adapter?.poll === undefined)
    return pollTrouble(deps, lease, new Error("The provider cannot be polled."));
  try {
    if (task.cancelRequested) await adapter.cancel?.(attempt.operation, signal);
    const answer = await adapter.poll(attempt.operation, signal, previewsOf(deps, task));
    return await pollAnswer(deps, lease, { adapter, operation: attempt.operation, answer }, signal);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    if (signal.aborted) return SETTLED;
    return pollTrouble(deps, lease, error);
  }
}

function pollAnswer(
  deps: StepDeps,
  lease: Lease,
  seen: { adapter: ProviderAdapter; operation: Json; answer: PollResult },
  signal: AbortSignal,
): Promise<StepResult> {
  const { task, attempt } = lease;
  const { answer } = seen;
  const now = deps.clock.now();
  switch (answer.kind) {
    case "succeeded":
      return recordOutputs(deps, lease, answer);
    case "failed":
      return settleFailed(
        deps,
        lease,
        taskError(answer.code, answer.message),
        endOf(deps, lease, answer.detail ?? answer.message, answer.isCharged === true),
      );
    case "cancelled":
      if (task.cancelRequested) {
        return settle(deps, lease, cancelled(task, now, attempt && { id: attempt.id, state: "done" }));
      }
      return settleFailed(deps, lease, taskError("UPSTREAM_ERROR"), {
        state: "done",
        detail: "Cancelled upstream.",
      });
    case "pending": {
      if (task.cancelRequested && seen.adapter.cancel === undefined) return letGo(deps, lease);
      if (isLate(task, now)) return expire(deps, lease, seen, signal);
      const delayMs = answer.pollAfterMs ?? nextPollDelayMs(now - (attempt?.startedAt ?? now), deps.random());
      const dueAt = Math.min(
        now + (task.cancelRequested ? CANCEL_POLL_MS : delayMs),
        task.deadlineAt ?? Infinity,
      );
      return settle(deps, lease, snoozed(task, now, { dueAt, failures: 0, progress: answer.progress }));
    }
  }
}

function endOf(deps: StepDeps, lease: Lease, detail: string | undefined, isCharged: boolean) {
  return isCharged ? endedAtCost(deps, lease, "done", detail) : { state: "done" as const, detail };
}

function isLate(task: Lease["task"], now: number): boolean {
  return task.deadlineAt !== undefined && now >= task.deadlineAt;
}

/** Ends a task past its deadline, uncharged. Tells the upstream to stop, as a courtesy. */
async function expire(
  deps: StepDeps,
  lease: Lease,
  seen: { adapter: ProviderAdapter; operation: Json },
  signal: AbortSignal,
): Promise<StepResult> {
  if (lease.task.cancelRequested) return letGo(deps, lease);
  try {
    await seen.adapter.cancel?.(seen.operation, signal);
  } catch (error) {
    deps.log.warn({ task: lease.task.id, err: error as Error }, "could not cancel an overdue operation");
  }
  return settleFailed(deps, lease, deadlineError(), endedAtCost(deps, lease, "done", "Overdue."));
}

/** Ends a cancelled task whose upstream cannot or does not stop. The caller pays nothing. */
function letGo(deps: StepDeps, lease: Lease): Promise<StepResult> {
  const { task, attempt } = lease;
  const end = endedAtCost(deps, lease, "done", "Cancelled here; still running upstream.");
  const change = attempt && { ...end, id: attempt.id };
  return settle(deps, lease, cancelled(task, deps.clock.now(), change));
}

function pollTrouble(deps: StepDeps, lease: Lease, error: unknown): Promise<StepResult> {
  const { task } = lease;
  const now = deps.clock.now();
  const failures = task.failures + 1;
  const isFinal =
    error instanceof ProviderError && (error.disposition === "fail" || error.disposition === "reroute");
  const detail = error instanceof Error ? error.message : String(error);
  if (isFinal) {
    const end = endedAtCost(deps, lease, "done", detail);
    return settleFailed(deps, lease, taskError(error.code, error.publicMessage), end);
  }
  if (task.cancelRequested && failures >= CANCEL_TRIES) return letGo(deps, lease);
  if (isLate(task, now))
    return settleFailed(deps, lease, deadlineError(), endedAtCost(deps, lease, "done", detail));
  deps.log.warn({ task: task.id, failures, detail }, "poll failed; asking again");
  return retryLater(deps, lease, error instanceof ProviderError ? error.details.retryAfterMs : undefined);
}

import { taskError } from "../../domain/errors.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import type { Lease } from "../../domain/task/task.ts";
import { requeued, submitted } from "../../domain/task/transition.ts";
import {
  endedAtCost,
  retryLater,
  SETTLED,
  type StepDeps,
  type StepResult,
  settle,
  settleFailed,
  waitForProvider,
} from "../context.ts";
import { openInputs } from "./inputs.ts";
import { submit } from "./submit.ts";

/**
 * Continues a task whose submission has no recorded outcome: the process died between intent and answer, or the answer was lost.
 * What is safe depends on the adapter. Either it can say what became of the attempt, or it honours the attempt's id as a key, so
 * that the attempt can be sent again. Otherwise the task ends uncharged, because a second submission might be a second charge.
 */
export async function recover(deps: StepDeps, lease: Lease, signal: AbortSignal): Promise<StepResult> {
  const { task, attempt } = lease;
  const adapter = attempt && deps.provider(attempt.provider);
  const unknown = () =>
    settleFailed(deps, lease, taskError("OUTCOME_UNKNOWN"), endedAtCost(deps, lease, "ambiguous"));
  if (attempt === undefined) return unknown();
  if (adapter === undefined) return waitForProvider(deps, lease);
  const isLate = task.deadlineAt !== undefined && deps.clock.now() >= task.deadlineAt;

  if (adapter.recover !== undefined) {
    try {
      const answer = await adapter.recover(attempt.id, signal);
      const now = deps.clock.now();
      if (answer.kind === "found")
        return await settle(deps, lease, submitted(now, attempt.id, answer.operation, now));
      const again = { dueAt: now, failures: task.failures, lane: task.lane, routeIndex: task.routeIndex };
      const rejected = { attempt: attempt.id, detail: "The upstream never received this attempt." };
      return await settle(deps, lease, requeued(now, again, rejected));
    } catch (error) {
      if (error instanceof StorageError) throw error;
      if (signal.aborted) return SETTLED;
      deps.log.warn({ task: task.id, provider: adapter.id, err: error as Error }, "recovery failed");
      return isLate ? unknown() : retryLater(deps, lease);
    }
  }
  if (!adapter.submitIsIdempotent || isLate) return unknown();
  const inputs = await openInputs(deps, task.request);
  if (!Array.isArray(inputs)) return unknown();
  return submit(deps, lease, { adapter, inputs, isResend: true }, signal);
}

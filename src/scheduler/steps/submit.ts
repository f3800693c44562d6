import { type TaskError, taskError } from "../../domain/errors.ts";
import { findRoute } from "../../domain/model/model.ts";
import { type InputFile, type ProviderAdapter, ProviderError } from "../../domain/ports/provider.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import { nextPollDelayMs, retryDelayMs } from "../../domain/task/backoff.ts";
import { chooseRoute } from "../../domain/task/routing.ts";
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
} from "../context.ts";
import { previewsOf } from "../previews.ts";
import { recordOutputs } from "./outputs.ts";

/** Refusals in a row after which a route is given up. Attempts cut short by a crash do not count. */
const MAX_REFUSALS = 5;

/**
 * Sends the lease's attempt, whose intent is committed, and records the outcome.
 *
 * @param to.isResend an earlier send of the attempt may have been accepted; a refusal now does not rule that out
 */
export async function submit(
  deps: StepDeps,
  lease: Lease,
  to: { adapter: ProviderAdapter; inputs: readonly InputFile[]; isResend: boolean },
  signal: AbortSignal,
): Promise<StepResult> {
  const { task, attempt } = lease;
  if (attempt === undefined) throw new Error(`Task ${task.id} has no attempt to submit`);
  const model = deps.catalog.find(task.model);
  try {
    const answer = await to.adapter.submit(
      {
        attempt: attempt.id,
        taskId: task.id,
        upstreamModel: attempt.upstreamModel,
        wording: model && findRoute(model, attempt)?.wording,
        request: task.request,
        inputs: to.inputs,
        previews: previewsOf(deps, task),
      },
      signal,
    );
    if (answer.kind === "outputs") return await recordOutputs(deps, lease, answer);
    const now = deps.clock.now();
    const dueAt = now + (answer.pollAfterMs ?? nextPollDelayMs(0, deps.random()));
    return await settle(deps, lease, submitted(now, attempt.id, answer.operation, dueAt));
  } catch (error) {
    if (error instanceof StorageError) throw error;
    if (signal.aborted) return SETTLED;
    return submitTrouble(deps, lease, to, error);
  }
}

function submitTrouble(
  deps: StepDeps,
  lease: Lease,
  { adapter, isResend }: { adapter: ProviderAdapter; isResend: boolean },
  error: unknown,
): Promise<StepResult> {
  const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const trouble =
    error instanceof ProviderError
      ? error
      : new ProviderError("unknown", "UPSTREAM_ERROR", detail, {}, error);
  deps.log.warn(
    {
      task: lease.task.id,
      provider: adapter.id,
      disposition: trouble.disposition,
      error_code: trouble.code,
      detail,
    },
    "submission failed",
  );
  const publicError = taskError(trouble.code, trouble.publicMessage);
  switch (trouble.disposition) {
    case "fail":
      return settleFailed(deps, lease, publicError, { state: "rejected", detail });
    case "unknown":
      return outcomeUnknown(deps, lease, adapter, detail);
    case "retry":
      // A new attempt would have a new key, and could cause a second generation.
      if (isResend) return outcomeUnknown(deps, lease, adapter, detail);
      if (lease.task.failures + 1 < MAX_REFUSALS) return tryAgain(deps, lease, trouble, detail);
      return tryNextRoute(deps, lease, publicError, detail);
    case "reroute":
      if (isResend) return outcomeUnknown(deps, lease, adapter, detail);
      return tryNextRoute(deps, lease, publicError, detail);
  }
}

function tryAgain(deps: StepDeps, lease: Lease, trouble: ProviderError, detail: string): Promise<StepResult> {
  const { task, attempt } = lease;
  const now = deps.clock.now();
  const failures = task.failures + 1;
  const dueAt = now + (trouble.details.retryAfterMs ?? retryDelayMs(failures, deps.random()));
  const again = { dueAt, failures, lane: task.lane, routeIndex: task.routeIndex };
  return settle(deps, lease, requeued(now, again, attempt && { attempt: attempt.id, detail }));
}

function tryNextRoute(deps: StepDeps, lease: Lease, error: TaskError, detail: string): Promise<StepResult> {
  const { task, attempt } = lease;
  const model = deps.catalog.find(task.model);
  const next = model && chooseRoute(model, (id) => deps.provider(id) !== undefined, task.routeIndex + 1);
  if (next === undefined) {
    return settleFailed(deps, lease, error, { state: "rejected", detail });
  }
  const now = deps.clock.now();
  const again = { dueAt: now, failures: 0, lane: next.route.provider, routeIndex: next.index };
  return settle(deps, lease, requeued(now, again, attempt && { attempt: attempt.id, detail }));
}

/** The upstream may have accepted it. Ask it, or send the same key again; otherwise end the task and charge nothing. */
function outcomeUnknown(
  deps: StepDeps,
  lease: Lease,
  adapter: ProviderAdapter,
  detail: string,
): Promise<StepResult> {
  if (adapter.recover === undefined && !adapter.submitIsIdempotent) {
    const end = endedAtCost(deps, lease, "ambiguous", detail);
    return settleFailed(deps, lease, taskError("OUTCOME_UNKNOWN"), end);
  }
  return retryLater(deps, lease);
}

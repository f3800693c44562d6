import { type TaskError, taskError } from "../domain/errors.ts";
import type { AttemptId, ProviderId } from "../domain/ids.ts";
import type { Micros } from "../domain/money/money.ts";
import { atMost, mostCostOf } from "../domain/money/upstream-cost.ts";
import type { AssetStore } from "../domain/ports/asset-store.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock, Ids, Log, PreviewFeed, Random, TaskFeed } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { retryDelayMs } from "../domain/task/backoff.ts";
import type { AttemptState, Lease } from "../domain/task/task.ts";
import { failed, snoozed, type Transition } from "../domain/task/transition.ts";

/** What every step needs. */
export interface StepDeps {
  readonly tasks: TaskStore;
  readonly assets: AssetStore;
  readonly egress: Egress;
  readonly catalog: Catalog;
  readonly provider: (id: ProviderId) => ProviderAdapter | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Log;
  readonly feed: TaskFeed;
  readonly previews: PreviewFeed;
  /** Called when a task with a callback has ended. */
  readonly callbackDue: () => void;
}

/**
 * The result of a step: the lease is settled (given back, ended or lost), or the same worker continues in the new stage.
 */
export type StepResult =
  /** `isOver`: the task has ended, and nothing of it is due again. */
  { readonly kind: "settled"; readonly isOver?: true } | { readonly kind: "continue"; readonly lease: Lease };
export const SETTLED: StepResult = { kind: "settled" };
const OVER: StepResult = { kind: "settled", isOver: true };

/** Applies a transition and notifies waiters. A lost lease ends the step quietly: another worker has the task. */
export async function commit(
  deps: StepDeps,
  lease: Lease,
  transition: Transition,
): Promise<"applied" | "lease_lost"> {
  const outcome = await deps.tasks.apply(lease, transition);
  if (outcome === "lease_lost") {
    deps.log.warn({ task: lease.task.id, transition: transition.name }, "lease lost");
    return outcome;
  }
  if (transition.ending !== undefined) logEnding(deps, lease, transition);
  if (transition.callback !== undefined) deps.callbackDue();
  deps.feed.publish(lease.task, transition.ending !== undefined);
  return outcome;
}

/** Applies a transition that ends the step. */
export async function settle(deps: StepDeps, lease: Lease, transition: Transition): Promise<StepResult> {
  const outcome = await commit(deps, lease, transition);
  return outcome === "applied" && transition.to === "terminal" ? OVER : SETTLED;
}

/** Ends the task as failed. `latest` says what is known of its latest attempt. */
export function settleFailed(
  deps: StepDeps,
  lease: Lease,
  error: TaskError,
  latest?: {
    state: AttemptState;
    id?: AttemptId;
    detail?: string | undefined;
    costMicros?: Micros | undefined;
  },
): Promise<StepResult> {
  const id = latest?.id ?? lease.attempt?.id;
  const change = latest && id !== undefined ? { ...latest, id } : undefined;
  return settle(deps, lease, failed(lease.task, deps.clock.now(), error, deps.ids.create("cb"), change));
}

/**
 * The end of an attempt without a result that the upstream may still charge for. Records the most that it can cost. The caller pays
 * nothing.
 */
export function endedAtCost<S extends AttemptState>(
  deps: StepDeps,
  { task, attempt }: Lease,
  state: S,
  detail?: string,
): { state: S; detail: string | undefined; costMicros: Micros | undefined } {
  const costMicros = mostCostOf(deps.catalog.find(task.model), task, attempt);
  return { state, detail: atMost(detail, costMicros), costMicros };
}

/** Gives the task back after a transient failure. It is due again after `retryAfterMs`, or else after a growing delay. */
export function retryLater(deps: StepDeps, lease: Lease, retryAfterMs?: number): Promise<StepResult> {
  const { task } = lease;
  const now = deps.clock.now();
  const failures = task.failures + 1;
  const dueAt = now + (retryAfterMs ?? retryDelayMs(failures, deps.random()));
  return settle(deps, lease, snoozed(task, now, { dueAt, failures }));
}

/** How soon to check again whether a provider was switched on. */
const PROVIDER_OFF_MS = 30_000;

/** Gives the task back because the operator has switched its provider off. That is no failure of the task. */
export function waitForProvider(deps: StepDeps, lease: Lease): Promise<StepResult> {
  const { task } = lease;
  const now = deps.clock.now();
  deps.log.warn({ task: task.id, provider: task.lane }, "waiting for a provider that is switched off");
  return settle(deps, lease, snoozed(task, now, { dueAt: now + PROVIDER_OFF_MS, failures: task.failures }));
}

export const deadlineError = (): TaskError => taskError("DEADLINE_EXCEEDED");

function logEnding(deps: StepDeps, lease: Lease, transition: Transition): void {
  const { task } = lease;
  const fields = {
    task: task.id,
    model: task.model,
    status: transition.ending?.status,
    error_code: transition.ending?.error?.code,
    detail: transition.attempt?.detail,
    ms: transition.at - task.createdAt,
  };
  if (transition.ending?.status === "failed") deps.log.warn(fields, "task failed");
  else deps.log.info(fields, `task ${transition.ending?.status}`);
}

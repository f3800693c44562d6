import type { TaskError } from "../domain/errors.ts";
import type { LaneId, TaskId } from "../domain/ids.ts";
import type { Asset, StoredFile } from "../domain/media/asset.ts";
import { findRoute } from "../domain/model/model.ts";
import type { Micros } from "../domain/money/money.ts";
import { atMost, mostCostOf } from "../domain/money/upstream-cost.ts";
import type { AssetStore, StagedFile } from "../domain/ports/asset-store.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { ProviderAdapter, Submission } from "../domain/ports/provider.ts";
import type { Looking, Routing } from "../domain/ports/routing.ts";
import type { Clock, Ids, Log, PreviewFeed, Random, TaskFeed } from "../domain/ports/runtime.ts";
import { StorageError, type TaskStore } from "../domain/ports/task-store.ts";
import { dueAfter, retryDelayMs } from "../domain/task/backoff.ts";
import type { ChosenRoute } from "../domain/task/routing.ts";
import type { Attempt, AttemptState, Lease, Task } from "../domain/task/task.ts";
import {
  type AttemptChange,
  cancelled,
  failed,
  passedOn,
  requeued,
  snoozed,
  type Transition,
  unanswered,
} from "../domain/task/transition.ts";
import { logEnding } from "./endings.ts";
import type { Hooks } from "./hooks.ts";
import { measure, type Watchers } from "./measures.ts";
import type { Absences } from "./routing/absences.ts";
import type { Crowds } from "./routing/crowds.ts";
import type { Durations } from "./routing/durations.ts";
import type { Loads } from "./routing/loads.ts";
import type { Pace } from "./routing/pace.ts";
import type { RouteStanding } from "./routing/standing.ts";
import type { Takeovers } from "./routing/takeovers.ts";
import type { Traces } from "./traces.ts";
import { unquotedError } from "./unquoted.ts";

/** What every step needs. */
export interface StepDeps extends Watchers {
  readonly tasks: TaskStore;
  readonly assets: AssetStore;
  readonly egress: Egress;
  readonly catalog: Catalog;
  readonly provider: (lane: LaneId) => ProviderAdapter | undefined;
  readonly routing: Routing;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Log;
  /** The address at which a provider can fetch an attempt's input; undefined if this service has no public address. */
  readonly inputUrl?: ((file: StoredFile, startedAt: number) => string) | undefined;
  readonly hooks: Hooks;
  readonly feed: TaskFeed;
  readonly previews: PreviewFeed;
  /** Whether the deadline of a task has passed, counting only time in which the service could work. */
  readonly isOverdue: (id: TaskId) => Promise<boolean>;
  readonly standing: RouteStanding;
  readonly traces: Traces;
  readonly durations: Durations;
  readonly loads: Loads;
  readonly takeovers: Takeovers;
  readonly absences: Absences;
  readonly crowds: Crowds;
  /** Called when a callback was written. */
  readonly callbackDue: () => void;
  /** Runs the work of a step in a context that tells for which task requests are made; without it, runs the work directly. */
  readonly within?: (<T>(task: Pick<Task, "id" | "model">, work: () => Promise<T>) => Promise<T>) | undefined;
}

/** The result of a step: the lease is settled (released, ended or lost), or the same worker continues in the new stage. */
export type StepResult =
  /** `isOver`: the task has ended, and nothing more of it is due. */
  { readonly kind: "settled"; readonly isOver?: true } | { readonly kind: "continue"; readonly lease: Lease };
export const SETTLED: StepResult = { kind: "settled" };

/** What is known about the latest attempt when its task ends. */
type AttemptEnd = Omit<AttemptChange, "id">;
/** How an attempt ends without a result, and the cost that its upstream reports. */
interface AttemptCost {
  readonly state?: AttemptState | undefined;
  readonly reported?: Micros | undefined;
}

/** How soon to check again whether a provider was switched on. */
const PROVIDER_OFF_MS = 30_000;

/** One step of a leased task: its dependencies, and the ways in which a step can end. */
export class Step {
  constructor(
    readonly deps: StepDeps,
    readonly lease: Lease,
    readonly signal: AbortSignal,
    /** Files that were stored since the lease was taken. They are held, so that nobody removes them before a transition names them. */
    readonly held: StagedFile[] = [],
    /** Called before each transition is committed. */
    readonly onCommit?: () => void,
  ) {}

  get task() {
    return this.lease.task;
  }

  get attempt() {
    return this.lease.attempt;
  }

  /** Whether the task's deadline has passed. The deadline may have been moved since the task was read, so the store is asked first. */
  async isLate(): Promise<boolean> {
    const { deadlineAt = Number.POSITIVE_INFINITY, id } = this.task;
    return this.deps.clock.now() >= deadlineAt && (await this.deps.isOverdue(id));
  }

  /** What the latest attempt must make. */
  submission(): Submission {
    const { task, attempt, deps } = this;
    if (attempt === undefined) throw new Error(`Task ${task.id} has no attempt`);
    const { id, upstreamModel } = attempt;
    const model = deps.catalog.find(task.model);
    const wording = model && findRoute(model, attempt)?.wording;
    return { attempt: id, taskId: task.id, upstreamModel, wording, request: task.request };
  }

  /** The best way for the task, or the present one if it is as good; undefined if no way is left that can do the request. */
  async way(change = (looking: Looking) => looking): Promise<ChosenRoute | undefined> {
    const model = this.deps.catalog.find(this.task.model);
    return model && this.deps.routing.choose(model, this.task.request, change(await this.looking()));
  }

  /** What is known about the task when a way is chosen for it. */
  async looking(): Promise<Looking> {
    const { task, deps } = this;
    return { attempts: task.attempts === 0 ? [] : await deps.tasks.attempts(task.id), current: task };
  }

  /** The account that has the attempt, with the terms of the attempt's beginning; undefined while it is switched off. */
  adapterOf({ lane, terms }: Attempt): ProviderAdapter | undefined {
    const adapter = this.deps.provider(lane);
    return terms === undefined ? adapter : (adapter?.withTerms?.(terms) ?? adapter);
  }

  /** The asset that a file stored for the task becomes. */
  asset(file: StoredFile, place: Pick<Asset, "role" | "index" | "createdAt">): Asset {
    const { accountId, id: taskId } = this.task;
    return { ...file, id: this.deps.ids.create("asset"), accountId, taskId, ...place };
  }

  /** Applies a transition and notifies waiters. A lost lease ends the step quietly: another worker has the task. */
  async commit(transition: Transition): Promise<"applied" | "lease_lost"> {
    const { deps, lease, task } = this;
    const along = deps.traces.along(transition, lease.attempt);
    this.onCommit?.();
    const outcome = await deps.tasks.apply(lease, along);
    if (outcome === "lease_lost") {
      deps.log.warn({ task: task.id, transition: transition.name }, "lease lost");
      return outcome;
    }
    deps.traces.applied(transition, lease.attempt);
    deps.hooks.applied(transition, lease.attempt);
    deps.loads.moved(task, transition);
    measure(deps, lease, along);
    if (transition.ending !== undefined) logEnding(deps.log, lease, transition);
    if (transition.callback !== undefined) deps.callbackDue();
    deps.feed.publish(task, transition.ending !== undefined);
    return outcome;
  }

  /** Applies a transition that ends the step. */
  async settle(transition: Transition): Promise<StepResult> {
    const outcome = await this.commit(transition);
    return outcome === "applied" && transition.to === "terminal"
      ? { kind: "settled", isOver: true }
      : SETTLED;
  }

  /** Applies a transition after which the same worker continues, with the task or attempt changed as given. */
  async continue(transition: Transition, after: Pick<Lease, "task" | "attempt">): Promise<StepResult> {
    if ((await this.commit(transition)) === "lease_lost") return SETTLED;
    return { kind: "continue", lease: { ...this.lease, ...after } };
  }

  /** Ends the task as failed. */
  fail(error: TaskError, end?: AttemptEnd): Promise<StepResult> {
    const { clock, ids } = this.deps;
    return this.settle(failed(this.task, clock.now(), error, ids.create("cb"), this.#change(end)));
  }

  /**
   * Ends the task as failed without a result, though the upstream may still charge for the attempt. Records what that costs. The
   * caller pays nothing.
   */
  failAtCost(error: TaskError, detail?: string, cost?: AttemptCost): Promise<StepResult> {
    return this.fail(error, this.endAtCost(detail, cost));
  }

  /** Ends the task as cancelled. */
  cancel(end?: AttemptEnd): Promise<StepResult> {
    return this.settle(cancelled(this.task, this.deps.clock.now(), this.#change(end)));
  }

  /** Ends a cancelled task that its upstream may have made or be making. The caller pays nothing. */
  letGo(detail: string, state?: AttemptState): Promise<StepResult> {
    return this.cancel(this.endAtCost(detail, { state }));
  }

  /** The end of an attempt that the upstream may still charge for: at the reported cost, or else at the most that it can cost. */
  endAtCost(
    detail?: string,
    { state = "done", reported = this.attempt?.costMicros }: AttemptCost = {},
  ): AttemptEnd {
    if (reported !== undefined) return { state, detail, costMicros: reported };
    const costMicros = mostCostOf(this.deps.catalog.find(this.task.model), this.task, this.attempt);
    return { state, detail: atMost(detail, costMicros), costMicros };
  }

  #change(end: AttemptEnd | undefined): AttemptChange | undefined {
    return end && this.attempt && { ...end, id: this.attempt.id };
  }

  /** Releases the task in its stage. It is due again after `delayMs`, and at its deadline at the latest. */
  snooze(delayMs: number, failures = this.task.failures): Promise<StepResult> {
    const now = this.deps.clock.now();
    const dueAt = dueAfter(now, delayMs, this.task.deadlineAt);
    return this.settle(snoozed(this.task, now, { dueAt, failures }));
  }

  /** Releases the task after a transient failure. It is due again after `retryAfterMs`, or else after a growing delay. */
  retryLater(retryAfterMs?: number): Promise<StepResult> {
    const failures = this.task.failures + 1;
    return this.snooze(retryDelayMs(failures, this.deps.random(), retryAfterMs), failures);
  }

  /** Releases the task because the operator has switched its provider off. The task has not failed. */
  waitForProvider(): Promise<StepResult> {
    this.deps.absences.waits(this.task.lane, this.task.id);
    return this.snooze(PROVIDER_OFF_MS);
  }

  /** Returns the task to the queue, for the route `to` or else the same one. `detail`: why the upstream rejected its attempt. */
  requeue(
    again: { failures: number; delayMs?: number; to?: ChosenRoute },
    detail?: string,
  ): Promise<StepResult> {
    const { task, attempt, deps } = this;
    const { failures, delayMs = 0, to } = again;
    const now = deps.clock.now();
    const { lane, index: routeIndex, setup } = to ?? { ...task, index: task.routeIndex };
    const rejected = detail !== undefined && attempt ? { attempt: attempt.id, detail } : undefined;
    const dueAt = dueAfter(now, delayMs, task.deadlineAt);
    return this.settle(requeued(now, { dueAt, failures, lane, routeIndex, setup }, rejected));
  }

  /** Hands the task to another route, because the upstream took the attempt and failed without charging for it. */
  passOn({ lane, index, setup }: ChosenRoute, detail: string): Promise<StepResult> {
    const { task, attempt, deps } = this;
    if (attempt === undefined) throw new Error(`Task ${task.id} has no attempt`);
    const to = { lane, routeIndex: index, setup };
    return this.settle(passedOn(deps.clock.now(), to, { id: attempt.id, detail }));
  }

  /**
   * Releases the task after a submission without a usable answer: `queued` to submit again when its lane has room, `submitting` to
   * ask the upstream. It is due after `retryAfterMs`, or else after a growing delay, and at its deadline at the latest.
   *
   * @param costMicros what the submission may have cost, if another one follows
   */
  unanswered(
    to: "queued" | "submitting",
    detail?: string,
    { retryAfterMs, costMicros }: { retryAfterMs?: number | undefined; costMicros?: Micros | undefined } = {},
  ): Promise<StepResult> {
    const { task, attempt } = this;
    if (attempt === undefined) throw new Error(`Task ${task.id} has no attempt`);
    const failures = task.failures + 1;
    const now = this.deps.clock.now();
    const delayMs = retryDelayMs(failures, this.deps.random(), retryAfterMs);
    const dueAt = dueAfter(now, delayMs, task.deadlineAt);
    return this.settle(unanswered(now, to, { dueAt, failures }, { id: attempt.id, detail, costMicros }));
  }

  /** Runs work that needs the upstream. A storage error ends the work on the task; an interruption ends the step quietly. */
  async attempting(
    work: () => Promise<StepResult>,
    trouble: (error: unknown) => Promise<StepResult>,
  ): Promise<StepResult> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StorageError) throw error;
      return this.signal.aborted ? SETTLED : trouble(unquotedError(error, this.task.request));
    }
  }
}

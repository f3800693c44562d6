import type { AccountId, TaskId } from "../domain/ids.ts";
import type { Clock, Wakeup } from "../domain/ports/runtime.ts";
import type { Claimed, LaneCapacity } from "../domain/ports/task-store.ts";
import type { Lease } from "../domain/task/task.ts";
import { snoozed } from "../domain/task/transition.ts";
import type { StepDeps, StepResult } from "./context.ts";
import { createLoop } from "./loop.ts";
import { dispatch } from "./steps/dispatch.ts";
import { finalize } from "./steps/finalize.ts";
import { poll } from "./steps/poll.ts";
import { recover } from "./steps/recover.ts";

export interface SchedulerOptions {
  /** Tasks between submission and end, over all lanes. */
  readonly concurrency: number;
  readonly lanes: readonly LaneCapacity[];
  /** Steps worked on at once. */
  readonly steps: number;
  readonly leaseMs: number;
}

export interface Scheduler extends Wakeup {
  /** Takes up what an earlier process left, and starts claiming. @returns tasks that were leased by a process now gone */
  start(): Promise<number>;
  /** One claim, worked off to the end, without timers. @returns leases claimed */
  tick(): Promise<number>;
  /**
   * Stops claiming, waits up to `limitMs` for steps under way, then interrupts them and gives back their leases. A submission
   * cut off in the middle keeps its lease and is recovered by the next process.
   */
  drain(limitMs: number): Promise<void>;
}

/**
 * Claims due tasks and works on them, as many at once as the options allow. Woken by `wake`, by the end of a step, and by one
 * timer set for the next due time; it never polls its store.
 */
export function createScheduler(deps: StepDeps, options: SchedulerOptions): Scheduler {
  const working = new Map<TaskId, Work>();
  /** Of those, the ones that fetch inputs, by account: slow addresses take no slot from anybody's polls. */
  const fetching = new Map<AccountId, number>();
  const ends = () => Promise.all([...working.values()].map(({ end }) => end));
  /** As the last claim found it; the end of a step leads to another claim. */
  let isFull = false;
  /** Whether the last claim left tasks behind that could be claimed if there were room for them. */
  let leftSome = false;

  async function claim(): Promise<Claimed> {
    const free = options.steps - slotsTaken();
    leftSome = free <= 0;
    if (leftSome) return { leases: [], isFull };
    const claimed = await deps.tasks.claim({
      now: deps.clock.now(),
      leaseMs: options.leaseMs,
      limit: free,
      held: new Set(working.keys()),
      lanes: options.lanes,
      capacity: options.concurrency,
    });
    isFull = claimed.isFull;
    leftSome = isFull || claimed.leases.length === free;
    for (const lease of claimed.leases) begin(lease);
    return claimed;
  }

  // With every step slot taken no timer is needed: the end of a step wakes the loop.
  const loop = createLoop(deps, "claiming tasks", async () => {
    const { nextDueAt } = await claim();
    return slotsTaken() < options.steps ? nextDueAt : undefined;
  });

  function slotsTaken(): number {
    let fetches = 0;
    for (const count of fetching.values()) fetches += count;
    return working.size - fetches;
  }

  function begin(lease: Lease): void {
    const { id, accountId } = lease.task;
    const isFetch = needsFetching(lease);
    const fetches = fetching.get(accountId) ?? 0;
    const controller = new AbortController();
    const run = { controller, leaseMs: options.leaseMs };
    const isTooMany = isFetch && fetches >= FETCHES_PER_ACCOUNT;
    if (isFetch) fetching.set(accountId, fetches + 1);
    const end = (isTooMany ? standBack(deps, lease) : workOff(deps, lease, run)).then((isOver) => {
      // It may have been claimed again since its lease was given back.
      if (working.get(id)?.end === end) working.delete(id);
      if (isFetch) release(fetching, accountId);
      // The end of a task makes nothing due; it only makes room, for those that were left for want of it.
      if (!isOver || leftSome) loop.wake();
    });
    working.set(id, { end, controller });
  }

  return {
    async start() {
      const rescued = await deps.tasks.rescue(deps.clock.now());
      loop.start();
      return rescued;
    },
    wake: loop.wake,
    queued() {
      if (!isFull) loop.wake();
    },
    async tick() {
      const { leases } = await claim();
      await ends();
      return leases.length;
    },
    async drain(limitMs) {
      // What the last claim leased is under way once the loop has ended.
      const ended = loop.stop();
      await withinLimit(deps.clock, ended.then(ends), limitMs);
      for (const { controller } of working.values()) controller.abort(new Error("The service is stopping."));
      await ended;
      await ends();
    },
  };
}

interface Work {
  readonly end: Promise<void>;
  readonly controller: AbortController;
}

/** Tasks of one account whose inputs are fetched at once. */
const FETCHES_PER_ACCOUNT = 8;
/** How soon a task whose account fetches enough already is tried again. */
const STAND_BACK_MS = 1_000;

function needsFetching({ task }: Lease): boolean {
  return task.stage === "queued" && task.request.inputs.some((input) => input.source.kind === "url");
}

/** @returns false: the task is due again */
async function standBack(deps: StepDeps, lease: Lease): Promise<boolean> {
  const now = deps.clock.now();
  const again = { dueAt: now + STAND_BACK_MS, failures: lease.task.failures };
  await deps.tasks.apply(lease, snoozed(lease.task, now, again)).catch((error: unknown) => {
    deps.log.error({ err: error as Error, task: lease.task.id }, "lease could not be given back");
  });
  return false;
}

function release(counts: Map<AccountId, number>, account: AccountId): void {
  const left = (counts.get(account) ?? 1) - 1;
  if (left === 0) counts.delete(account);
  else counts.set(account, left);
}

/** Waits for `work`, but no longer than `limitMs`. */
async function withinLimit(clock: Clock, work: Promise<unknown>, limitMs: number): Promise<void> {
  let cancel = () => {};
  const limit = new Promise<void>((resolve) => {
    cancel = clock.after(limitMs, resolve);
  });
  await Promise.race([work, limit]);
  cancel();
}

/**
 * Advances one leased task as far as it goes now, keeping its lease alive, and never throws.
 *
 * @returns whether the task has ended
 */
async function workOff(
  deps: StepDeps,
  lease: Lease,
  run: { controller: AbortController; leaseMs: number },
): Promise<boolean> {
  const stopRenewing = keepLease(deps, lease, run);
  const { signal } = run.controller;
  let current = lease;
  try {
    for (;;) {
      const result = await step(deps, current, signal);
      if (result.kind === "settled") {
        if (result.isOver) return true;
        break;
      }
      current = result.lease;
    }
    if (signal.aborted) await giveBack(deps, current);
  } catch (error) {
    // The lease runs out by itself, and the task is taken up again from what is committed.
    deps.log.error({ err: error as Error, task: lease.task.id, stage: current.task.stage }, "step failed");
  } finally {
    stopRenewing();
  }
  return false;
}

function step(deps: StepDeps, lease: Lease, signal: AbortSignal): Promise<StepResult> {
  switch (lease.task.stage) {
    case "queued":
      return dispatch(deps, lease, signal);
    case "submitting":
      return recover(deps, lease, signal);
    case "running":
      return poll(deps, lease, signal);
    case "finalizing":
      return finalize(deps, lease, signal);
    case "terminal":
      throw new Error(`Task ${lease.task.id} was claimed after its end`);
  }
}

/** After an interrupted step: nothing is ambiguous in these stages, so another process may go on at once. */
async function giveBack(deps: StepDeps, lease: Lease): Promise<void> {
  const { task } = lease;
  if (task.stage === "submitting" || task.stage === "terminal") return;
  const now = deps.clock.now();
  await deps.tasks.apply(lease, snoozed(task, now, { dueAt: now, failures: task.failures }));
}

/** Renews the lease at every third of its length until told to stop; interrupts the work when the lease is lost. */
function keepLease(
  deps: StepDeps,
  lease: Lease,
  run: { controller: AbortController; leaseMs: number },
): () => void {
  let stopped = false;
  let cancel = () => {};
  const arm = () => {
    cancel = deps.clock.after(run.leaseMs / 3, () => void renew());
  };
  const renew = async () => {
    const outcome = await deps.tasks.renew(lease, deps.clock.now() + run.leaseMs).catch((error: unknown) => {
      deps.log.error({ err: error as Error, task: lease.task.id }, "lease could not be renewed");
      return "renewed" as const;
    });
    if (stopped) return;
    if (outcome === "lease_lost") run.controller.abort(new Error("The lease was lost."));
    else arm();
  };
  arm();
  return () => {
    stopped = true;
    cancel();
  };
}

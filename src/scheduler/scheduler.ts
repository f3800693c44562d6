import type { TaskId } from "../domain/ids.ts";
import type { Claimed, LaneCapacity } from "../domain/ports/claims.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Wakeup } from "../domain/ports/wakeup.ts";
import type { Lease } from "../domain/task/task.ts";
import { claimAndBegin } from "./beginnings.ts";
import { startsOf } from "./detours.ts";
import { createFetches, type Fetches } from "./fetches.ts";
import { type HasteningDeps, hastenWaiting } from "./hastening.ts";
import { createLoop } from "./loop.ts";
import { createStarts, type StartOptions } from "./starts.ts";
import type { StepDeps } from "./step.ts";
import type { Beginning } from "./steps/begin.ts";
import { createUnderWay } from "./under-way.ts";

export interface SchedulerOptions extends StartOptions {
  /** Steps worked on at once. */
  readonly steps: number;
}

export interface Scheduler extends Wakeup {
  /** Takes over the tasks of an earlier process, and starts claiming. @returns how many tasks that process had leased */
  start(): Promise<number>;
  /** Claims once and works everything off, without timers. @returns leases claimed */
  tick(): Promise<number>;
  /**
   * Stops claiming, waits up to `limitMs` for steps under way, then interrupts them and releases their leases. A submission cut
   * off in the middle keeps its lease and is recovered by the next process.
   */
  drain(limitMs: number): Promise<void>;
}

/**
 * Claims due tasks and works on them, as many at once as the options allow. Woken by `wake`, by the end of a step, and by one
 * timer set for the next due time; it never polls its store.
 */
export function createScheduler(deps: StepDeps & HasteningDeps, options: SchedulerOptions): Scheduler {
  const fetches = createFetches(deps.clock);
  const underWay = createUnderWay(deps, fetches, options.leaseMs);
  forgetEnded(deps);
  const freeSteps = () => options.steps - underWay.steps() - starts.count();

  function work(lease: Lease, beginning: Beginning | undefined): void {
    const fetching = fetches.total();
    underWay.begin(lease, beginning, (isOver) => {
      // The end of a task makes no other task due. It only makes room for tasks that had to wait.
      if (!isOver || claiming.leftSome()) loop.wake();
    });
    // Its place is free for another task.
    if (fetches.total() > fetching) loop.wake();
  }

  const claiming = createClaiming(deps, options, { freeSteps, fetches, held: underWay.ids, work });
  // No timer is needed while every slot is taken: the end of a step wakes the loop.
  const loop = createLoop(deps, "claiming tasks", async () => {
    const { nextDueAt } = await claiming.claim();
    announcements.claimed();
    return underWay.steps() < options.steps ? claiming.nextPassAt(nextDueAt) : undefined;
  });
  hastenWaiting(deps, options.lanes, loop.wake);
  const announcements = createAnnouncements(claiming.hasRoom, loop.wake);
  const isIdle = () =>
    loop.isRunning() && claiming.foundAllRoom() && !announcements.isDue() && freeSteps() > 0;
  const starts = createStarts(deps, options, { isIdle, work, claim: loop.wake });

  return {
    async start() {
      const rescued = await deps.tasks.rescue(deps.clock.now());
      deps.loads.start(await deps.tasks.laneCounts());
      loop.start();
      return rescued;
    },
    wake: loop.wake,
    queued: announcements.queued,
    admit(admission) {
      const started = starts.tryAdmit(admission);
      if (started !== undefined) return started;
      // Before it is stored: the claim that this leads to shares its commit.
      announcements.queued();
      return deps.tasks.admit(admission);
    },
    async tick() {
      const { leases } = await claiming.claim();
      await underWay.ends();
      return leases.length;
    },
    async drain(limitMs) {
      // By then, every task that the last claim leased is under way, and the last one that began as it was stored.
      const ended = loop.stop().then(starts.ends);
      await withinLimit(deps.clock, ended.then(underWay.ends), limitMs);
      underWay.interrupt(new Error("The service is stopping."));
      await ended.then(underWay.ends);
    },
  };
}

/** Another node may have taken a task over, and end it. */
function forgetEnded({ feed, traces, hooks }: StepDeps): void {
  feed.subscribeAll((id, isOver) => {
    if (!isOver) return;
    traces.ended(id);
    hooks.ended(id);
  });
}

/** Claims what is due, and knows what the last claim left. */
function createClaiming(
  deps: StepDeps,
  options: SchedulerOptions,
  use: {
    readonly freeSteps: () => number;
    readonly fetches: Fetches;
    readonly held: () => ReadonlySet<TaskId>;
    readonly work: (lease: Lease, beginning: Beginning | undefined) => void;
  },
) {
  /** The room that the last claim found. The end of a step leads to another claim. */
  let room: Claimed["room"] = "all";
  /** Whether that claim left tasks that could start if there were room. Before the first claim nobody knows. */
  let leftSome = true;
  /** The limits at that claim. */
  let lanes: readonly LaneCapacity[] = [];
  return {
    hasRoom: () => room !== "none",
    leftSome: () => leftSome,
    /** Whether every lane had room, and nothing that could start was left. */
    foundAllRoom: () => room === "all" && !leftSome,
    nextPassAt: (nextDueAt: number | undefined) => nextPassAt(deps, lanes, nextDueAt),
    async claim(): Promise<Claimed> {
      const free = use.freeSteps();
      leftSome = free <= 0;
      if (leftSome) return { leases: [], room };
      lanes = paced(deps, options.lanes(), use.fetches);
      const { leaseMs } = options;
      const capacity = options.concurrency + use.fetches.total();
      const query = { now: deps.clock.now(), leaseMs, limit: free, held: use.held(), lanes, capacity };
      const { beginnings, ...claimed } = await claimAndBegin(deps, query);
      ({ room } = claimed);
      if (claimed.isQueueEmpty === true) deps.loads.queueEmpty();
      leftSome = room !== "all" || claimed.leases.length === free;
      for (const lease of claimed.leases) use.work(lease, beginnings.get(lease.task.id));
      return claimed;
    },
  };
}

/** Claims after tasks were queued: once for a whole turn of the event loop, in the commit that stores the tasks. */
function createAnnouncements(hasRoom: () => boolean, claim: () => void) {
  let isAnnounced = false;
  /** Whether a task was queued while there was no room. */
  let isMissed = false;
  return {
    /** Whether tasks were queued in this turn, and are to be claimed. */
    isDue: () => isAnnounced,
    queued(): void {
      if (!hasRoom()) isMissed = true;
      if (isAnnounced || isMissed) return;
      isAnnounced = true;
      // After everything else in this turn, and before the store commits it.
      setImmediate(() => {
        isAnnounced = false;
        claim();
      });
    },
    /** Call it after every claim. */
    claimed(): void {
      if (!isMissed || !hasRoom()) return;
      isMissed = false;
      // A missed task may have been stored after this claim.
      claim();
    },
  };
}

/**
 * The lanes, each with how many tasks may start in it now and whose tasks it may take over. The store counts tasks that fetch inputs, too,
 * so each has that much more room.
 */
function paced(deps: StepDeps, lanes: readonly LaneCapacity[], fetches: Fetches): readonly LaneCapacity[] {
  return lanes.map((place) => ({
    ...place,
    capacity: place.capacity + fetches.ofLane(place.lane),
    starts: startsOf(deps, place, lanes),
    siblings: deps.takeovers.mayHelp(place.lane) ? place.siblings : undefined,
  }));
}

/**
 * The time of the next due task, or of the next start in an account that could start nothing, or take nothing over, at the
 * claim. If its wait is over by now, the time is now.
 */
function nextPassAt(
  { pace, takeovers, clock }: StepDeps,
  lanes: readonly LaneCapacity[],
  nextDueAt: number | undefined,
): number | undefined {
  const held = lanes.filter(({ starts }) => starts === 0);
  const waits = [...held.map(({ lane }) => pace.startsInMs(lane)), takeovers.waitMs()];
  const startsInMs = Math.min(...waits.filter((ms) => ms !== undefined));
  const at = Math.min(nextDueAt ?? Number.POSITIVE_INFINITY, clock.now() + startsInMs);
  return at === Number.POSITIVE_INFINITY ? undefined : at;
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

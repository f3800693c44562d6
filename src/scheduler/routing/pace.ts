import type { LaneId, TaskId } from "../../domain/ids.ts";
import { ProviderError, type Rates } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { LONGEST_DELAY_MS } from "../../domain/task/backoff.ts";
import type { Attempt } from "../../domain/task/task.ts";
import { type Bucket, bucketOf } from "./bucket.ts";
import { createFoundRate, type FoundRate } from "./found-rate.ts";
import { type Turns, turnsOf } from "./turns.ts";

/** How often accounts may be called. Kept in memory; after a restart an upstream reports again that it gets too many requests. */
export interface Pace {
  /** How many tasks of the account may be submitted now; undefined: no limit. */
  starts(lane: LaneId): number | undefined;
  /** How long until `starts` is above 0. */
  startsInMs(lane: LaneId): number;
  /** Takes the right to submit one task. @returns 0, or how long to wait if there is none */
  submit(lane: LaneId): number;
  /** Takes the right to poll for a task. @returns 0, or how long to wait; the place in the queue is kept */
  poll(lane: LaneId, task: TaskId): number;
  /** The account's upstream asks for a pause, limited to `LONGEST_DELAY_MS`. */
  slow(lane: LaneId, pauseMs: number): void;
  /** The account's upstream says that it gets too many requests. It then gets half as many, and gradually more again. */
  tooOften(lane: LaneId): void;
  /** How long the pause lasts that the account's upstream asked for. */
  pausedMs(lane: LaneId): number;
  /**
   * How long until a task can be submitted that has this many before it, considering the pause and the refusals of the
   * account's upstream.
   */
  heldMs(lane: LaneId, ahead: number): number;
  /** How many submissions per minute the account takes, from its settings or learned; undefined: not known. */
  perMinute(lane: LaneId): number | undefined;
}

interface LanePace {
  pausedUntil: number;
  rates: Rates | undefined;
  submissions: Bucket | undefined;
  polls: Turns | undefined;
  readonly found: FoundRate;
}

export function createPace(deps: {
  readonly clock: Pick<Clock, "elapsed">;
  /** Read at each use, because a form may be replaced. */
  readonly rates: (lane: LaneId) => Rates | undefined;
}): Pace {
  const { clock, rates } = deps;
  const lanes = new Map<LaneId, LanePace>();

  function paceOf(lane: LaneId): LanePace {
    const pace = lanes.getOrInsertComputed(lane, newLanePace);
    const now = rates(lane);
    if (now?.submissionsPerMinute !== pace.rates?.submissionsPerMinute)
      pace.submissions = bucketOf(now?.submissionsPerMinute);
    if (now?.pollsPerMinute !== pace.rates?.pollsPerMinute) pace.polls = turnsOf(now?.pollsPerMinute);
    pace.rates = now;
    return pace;
  }

  function startsInMs(lane: LaneId): number {
    const { submissions, found } = paceOf(lane);
    const now = clock.elapsed();
    return Math.max(pausedMs(lane), submissions?.waitMs(now) ?? 0, found.waitMs(now));
  }

  const pausedMs = (lane: LaneId) => Math.max(0, (lanes.get(lane)?.pausedUntil ?? 0) - clock.elapsed());

  return {
    starts(lane) {
      if (pausedMs(lane) > 0) return 0;
      const { submissions, found } = paceOf(lane);
      const now = clock.elapsed();
      return least(submissions?.free(now), found.free(now));
    },
    startsInMs,
    submit(lane) {
      const { submissions, found } = paceOf(lane);
      const now = clock.elapsed();
      const waitMs = startsInMs(lane);
      if (waitMs > 0) return waitMs;
      submissions?.take(now);
      found.take(now);
      return 0;
    },
    poll: (lane, task) => pausedMs(lane) || (paceOf(lane).polls?.take(task, clock.elapsed()) ?? 0),
    slow(lane, pauseMs) {
      const pace = paceOf(lane);
      pace.pausedUntil = Math.max(pace.pausedUntil, clock.elapsed() + Math.min(pauseMs, LONGEST_DELAY_MS));
    },
    tooOften: (lane) => paceOf(lane).found.slow(clock.elapsed()),
    pausedMs,
    heldMs: (lane, ahead) =>
      Math.max(pausedMs(lane), lanes.get(lane)?.found.waitMs(clock.elapsed(), ahead) ?? 0),
    perMinute: (lane) =>
      least(rates(lane)?.submissionsPerMinute, lanes.get(lane)?.found.perMinute(clock.elapsed())),
  };
}

/** The smaller of two limits, each of which may be absent. */
function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function newLanePace(): LanePace {
  return {
    ...{ pausedUntil: 0, rates: undefined, submissions: undefined, polls: undefined },
    found: createFoundRate(),
  };
}

/** Slows down the account of an attempt if its upstream says that it gets too many requests. */
export function heed(pace: Pace, attempt: Attempt | undefined, error: unknown): void {
  if (!(error instanceof ProviderError) || attempt === undefined) return;
  if (error.details.isTooOften === true) pace.tooOften(attempt.lane);
  if (error.pauseMs !== undefined) pace.slow(attempt.lane, error.pauseMs);
}

import type { LaneId, TaskId } from "../../domain/ids.ts";
import { type ProviderAdapter, ProviderError, type Rates } from "../../domain/ports/provider.ts";
import { type RouteOfLane, WHOLE_ACCOUNT } from "../../domain/ports/route-store.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { LONGEST_DELAY_MS } from "../../domain/task/backoff.ts";
import type { Attempt } from "../../domain/task/task.ts";
import { type Bucket, bucketOf } from "./bucket.ts";
import { createFoundRates } from "./found-rates.ts";
import { type Turns, turnsOf } from "./turns.ts";

/** How often accounts may be called. Kept in memory; after a restart an upstream reports again that it gets too many requests. */
export interface Pace {
  /** How many tasks of the account may be submitted now; undefined: no limit. */
  starts(lane: LaneId): number | undefined;
  /** How long until `starts` is above 0. */
  startsInMs(lane: LaneId): number;
  /** Takes the right to submit a task. @returns 0, or how long to wait if there is none */
  submit(route: RouteOfLane, task?: TaskId): number;
  /** Takes the right to poll for a task. @returns 0, or how long to wait; the place in the queue is kept */
  poll(route: RouteOfLane, task: TaskId): number;
  /**
   * The upstream asks for a pause of a model, or of the whole account. It is limited to `LONGEST_DELAY_MS`. What it says to a submission
   * concerns submissions: upstreams count them apart, and what they have made meanwhile can be fetched. What it says to a poll, as unless
   * given, concerns both.
   */
  slow(route: RouteOfLane, pauseMs: number, said?: Said): void;
  /**
   * The upstream says that it gets too many requests, of the model or of the whole account. It then gets half as many, and gradually
   * more again.
   */
  tooOften(route: RouteOfLane): void;
  /** How long the pause of submissions, unless given, lasts that the upstream asked for, of the model or of the whole account. */
  pausedMs(route: RouteOfLane, of?: Said): number;
  /**
   * How long until a task can be submitted that has this many before it, considering the pauses and the refusals of the
   * account's upstream.
   *
   * @param task may have a turn
   */
  heldMs(route: RouteOfLane, ahead: number, task?: TaskId): number;
  /**
   * Gives a task its turn where the model gets too many requests; it keeps one that it has. @returns how long until then; 0 where the model
   * does not get too many
   */
  turnMs(route: RouteOfLane, task: TaskId): number;
  /** How many submissions per minute the route takes, from the account's settings or learned; undefined: not known. */
  perMinute(route: RouteOfLane): number | undefined;
}

/** The request that an upstream answers. */
type Said = "submission" | "poll";

interface LanePace {
  rates: Rates | undefined;
  submissions: Bucket | undefined;
  polls: Turns | undefined;
}

export function createPace(deps: {
  readonly clock: Pick<Clock, "elapsed">;
  /** Read at each use, because a form may be replaced. */
  readonly rates: (lane: LaneId) => Rates | undefined;
}): Pace {
  const { clock, rates } = deps;
  const lanes = new Map<LaneId, LanePace>();
  const found = createFoundRates(clock);
  const { slow, pausedMs } = createPauses(clock);
  const accountPausedMs = (lane: LaneId) => pausedMs({ lane, upstreamModel: WHOLE_ACCOUNT });

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
    const { submissions } = paceOf(lane);
    const now = clock.elapsed();
    return Math.max(accountPausedMs(lane), submissions?.waitMs(now) ?? 0, found.of(lane).waitMs(now));
  }

  return {
    starts(lane) {
      if (accountPausedMs(lane) > 0) return 0;
      const { submissions } = paceOf(lane);
      const now = clock.elapsed();
      return least(submissions?.free(now), found.of(lane).free(now));
    },
    startsInMs,
    submit(route, task) {
      const waitMs = Math.max(startsInMs(route.lane), pausedMs(route), found.waitMs(route, task));
      if (waitMs > 0) return waitMs;
      paceOf(route.lane).submissions?.take(clock.elapsed());
      found.take(route, task);
      return 0;
    },
    poll: (route, task) =>
      pausedMs(route, "poll") || (paceOf(route.lane).polls?.take(task, clock.elapsed()) ?? 0),
    slow,
    tooOften: found.tooOften,
    pausedMs,
    heldMs(route, ahead, task) {
      const ofLane = found.of(route.lane).waitMs(clock.elapsed(), ahead);
      return Math.max(pausedMs(route), ofLane, found.waitMs(route, task));
    },
    turnMs: found.turnMs,
    perMinute: (route) => least(rates(route.lane)?.submissionsPerMinute, found.perMinute(route)),
  };
}

/** The pauses of accounts and of their models. */
function createPauses(clock: Pick<Clock, "elapsed">): Pick<Pace, "slow" | "pausedMs"> {
  const ends = { submission: createEnds(clock), poll: createEnds(clock) };
  return {
    slow(route, pauseMs, said = "poll") {
      const end = clock.elapsed() + Math.min(pauseMs, LONGEST_DELAY_MS);
      ends.submission.later(route, end);
      if (said === "poll") ends.poll.later(route, end);
    },
    pausedMs: (route, of = "submission") => Math.max(0, ends[of].of(route) - clock.elapsed()),
  };
}

/** Until when, by account and model; the whole account as `WHOLE_ACCOUNT`. */
function createEnds(clock: Pick<Clock, "elapsed">) {
  const ends = new Map<LaneId, Map<string, number>>();
  return {
    later({ lane, upstreamModel }: RouteOfLane, end: number): void {
      const ofLane = ends.getOrInsertComputed(lane, () => new Map());
      const now = clock.elapsed();
      for (const [model, past] of ofLane) if (past <= now) ofLane.delete(model);
      ofLane.set(upstreamModel, Math.max(end, ofLane.get(upstreamModel) ?? 0));
    },
    of({ lane, upstreamModel }: RouteOfLane): number {
      const ofLane = ends.get(lane);
      return Math.max(ofLane?.get(WHOLE_ACCOUNT) ?? 0, ofLane?.get(upstreamModel) ?? 0);
    },
  };
}

/** The smaller of two limits, each of which may be absent. */
function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function newLanePace(): LanePace {
  return { rates: undefined, submissions: undefined, polls: undefined };
}

/**
 * Slows down the account of an attempt, or its model there, if the upstream asks for it or says that it gets too many requests. An error
 * is of a poll unless given.
 */
export function heed(
  pace: Pace,
  attempt: Attempt | undefined,
  error: unknown,
  { limitsByModel = false, said = "poll" }: Pick<ProviderAdapter, "limitsByModel"> & { said?: Said } = {},
): void {
  if (!(error instanceof ProviderError) || attempt === undefined) return;
  const { lane, upstreamModel } = attempt;
  const { isTooOften = false, isUnable = false } = error.details;
  const isOfModel = isUnable || (isTooOften && limitsByModel);
  const place = { lane, upstreamModel: isOfModel ? upstreamModel : WHOLE_ACCOUNT };
  if (isTooOften) pace.tooOften(place);
  if (error.pauseMs !== undefined) pace.slow(place, error.pauseMs, said);
}

import type { LaneId, TaskId } from "../domain/ids.ts";
import { ProviderError, type Rates } from "../domain/ports/provider.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { LONGEST_DELAY_MS } from "../domain/task/backoff.ts";
import type { Attempt } from "../domain/task/task.ts";

/** How often accounts may be asked. Kept in memory: after a restart an upstream says again that it is too often. */
export interface Pace {
  /** How many tasks of the account may be submitted now; undefined: any number. */
  starts(lane: LaneId): number | undefined;
  /** How long until `starts` is above 0. */
  startsInMs(lane: LaneId): number;
  /** Takes the right to submit one task. @returns 0, or how long to wait where there is none */
  submit(lane: LaneId): number;
  /** Takes the right to ask after a task. @returns 0, or how long to wait; the place in the queue is kept */
  poll(lane: LaneId, task: TaskId): number;
  /** The account's upstream asks for a pause, of `LONGEST_DELAY_MS` at most. */
  slow(lane: LaneId, ms: number): void;
  isSlowed(lane: LaneId): boolean;
}

/** A task that does not come back for its turn, because it has ended, loses it after this time. */
const TURN_KEPT_MS = 60_000;

export function createPace(deps: {
  readonly clock: Pick<Clock, "elapsed">;
  readonly rates: (lane: LaneId) => Rates | undefined;
}): Pace {
  const { clock, rates } = deps;
  const slowedUntil = new Map<LaneId, number>();
  const submissions = new Map<LaneId, Bucket | undefined>();
  const polls = new Map<LaneId, Bucket | undefined>();
  const turns = new Map<TaskId, number>();

  const submissionsOf = (lane: LaneId) =>
    submissions.getOrInsertComputed(lane, () => bucketOf(rates(lane)?.submissionsPerMinute));
  const pollsOf = (lane: LaneId) =>
    polls.getOrInsertComputed(lane, () => bucketOf(rates(lane)?.pollsPerMinute));
  const slowedForMs = (lane: LaneId) => Math.max(0, (slowedUntil.get(lane) ?? 0) - clock.elapsed());

  return {
    starts: (lane) => (slowedForMs(lane) > 0 ? 0 : submissionsOf(lane)?.free(clock.elapsed())),
    startsInMs: (lane) => Math.max(slowedForMs(lane), submissionsOf(lane)?.waitMs(clock.elapsed()) ?? 0),
    submit(lane) {
      const now = clock.elapsed();
      const bucket = submissionsOf(lane);
      const waitMs = Math.max(slowedForMs(lane), bucket?.waitMs(now) ?? 0);
      if (waitMs === 0) bucket?.take(now);
      return waitMs;
    },
    poll(lane, task) {
      const slowedMs = slowedForMs(lane);
      const bucket = pollsOf(lane);
      if (slowedMs > 0 || bucket === undefined) return slowedMs;
      const now = clock.elapsed();
      forgetTurnsBefore(turns, now - TURN_KEPT_MS);
      const turn = turns.get(task) ?? bucket.take(now);
      if (turn > now) turns.set(task, turn);
      else turns.delete(task);
      return Math.max(0, turn - now);
    },
    slow(lane, ms) {
      const until = clock.elapsed() + Math.min(ms, LONGEST_DELAY_MS);
      slowedUntil.set(lane, Math.max(until, slowedUntil.get(lane) ?? 0));
    },
    isSlowed: (lane) => slowedForMs(lane) > 0,
  };
}

/** Lets the whole account that has an attempt pause where its upstream asks for it. */
export function heed(pace: Pace, attempt: Attempt | undefined, error: unknown): void {
  const pauseMs = error instanceof ProviderError ? error.pauseMs : undefined;
  if (attempt !== undefined && pauseMs !== undefined) pace.slow(attempt.lane, pauseMs);
}

/** Turns are given in the order of their times. */
function forgetTurnsBefore(turns: Map<TaskId, number>, time: number): void {
  for (const [task, turn] of turns) {
    if (turn >= time) return;
    turns.delete(task);
  }
}

/** Spreads requests evenly. What a late timer missed is made up for, up to a tenth of a second's worth. */
interface Bucket {
  /** How many may go now. */
  free(now: number): number;
  /** How long until one may go. */
  waitMs(now: number): number;
  /** Takes the next place, now or later. @returns its time */
  take(now: number): number;
}

const CATCH_UP_MS = 100;

function bucketOf(perMinute: number | undefined): Bucket | undefined {
  if (perMinute === undefined) return undefined;
  const intervalMs = 60_000 / perMinute;
  const size = Math.max(1, CATCH_UP_MS / intervalMs);
  /** When all places are free again. */
  let fullAt = Number.NEGATIVE_INFINITY;
  const places = (now: number) => size - Math.max(0, fullAt - now) / intervalMs;
  // A place that is there but for a rounding is there.
  const free = (now: number) => Math.max(0, Math.floor(places(now) + 1e-6));
  const waitMs = (now: number) => (free(now) > 0 ? 0 : Math.ceil((1 - places(now)) * intervalMs));
  return {
    free,
    waitMs,
    take(now) {
      const at = now + waitMs(now);
      fullAt = Math.max(fullAt, now) + intervalMs;
      return at;
    },
  };
}

import type { LaneId, TaskId } from "../../domain/ids.ts";
import { type RouteOfLane, WHOLE_ACCOUNT } from "../../domain/ports/route-store.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { createFoundRate, type FoundRate } from "./found-rate.ts";
import { forgetBefore } from "./turns.ts";

/** How many submissions accounts take, and each of their models, learned from refusals. */
export interface FoundRates {
  /** Of all submissions of an account. */
  of(lane: LaneId): FoundRate;
  /**
   * How long until the task may be submitted, as far as its model's rate allows it: at its turn, or where it has none, after all that have
   * one. Without a task, that of one which comes now.
   */
  waitMs(route: RouteOfLane, task?: TaskId): number;
  /** See `Pace.turnMs`. */
  turnMs(route: RouteOfLane, task: TaskId): number;
  /** The submission of a task goes. */
  take(route: RouteOfLane, task?: TaskId): void;
  /** See `Pace.tooOften`. */
  tooOften(route: RouteOfLane): void;
  /** The lower of the rates of the account and the model; undefined: neither is known. */
  perMinute(route: RouteOfLane): number | undefined;
}

interface ModelRate {
  readonly found: FoundRate;
  /** When the tasks that wait have their turns, by the clock that is never set. */
  readonly turns: Map<TaskId, number>;
  /** The latest turn that was given. */
  lastTurn: number;
}

/** Turns are further apart than the rate requires, because one that comes too early needs another turn. */
const ROOM = 1.1;
/** For so long after the last turn, those that come later leave it to the task that has it. */
const LATE_MS = 1_000;
/** A task that does not return for its turn, because it has ended or gone elsewhere, loses the turn after this time. */
const TURN_KEPT_MS = 60_000;

export function createFoundRates({ elapsed }: Pick<Clock, "elapsed">): FoundRates {
  const lanes = new Map<LaneId, FoundRate>();
  /** By account and upstream model. */
  const models = new Map<LaneId, Map<string, ModelRate>>();
  const of = (lane: LaneId) => lanes.getOrInsertComputed(lane, createFoundRate);
  const known = ({ lane, upstreamModel }: RouteOfLane) => models.get(lane)?.get(upstreamModel);
  const modelOf = ({ lane, upstreamModel }: RouteOfLane) =>
    models.getOrInsertComputed(lane, () => new Map()).getOrInsertComputed(upstreamModel, newModelRate);

  function waitMs(route: RouteOfLane, task?: TaskId): number {
    const model = known(route);
    const now = elapsed();
    if (model?.found.perMinute(now) === undefined) return 0;
    const { found, lastTurn, turns } = model;
    const turn = task && turns.get(task);
    const freeMs = found.waitMs(now);
    // Many may have had their turn at once, when the rate was expected to have grown. Those that came in vain get others.
    if (turn !== undefined && (freeMs === 0 || turn + LATE_MS > now))
      return Math.max(freeMs, Math.ceil(turn - now));
    if (lastTurn + LATE_MS <= now) return freeMs;
    // By then the rate has grown.
    const rate = found.perMinute(Math.max(now, lastTurn)) ?? Number.POSITIVE_INFINITY;
    return Math.max(freeMs, Math.ceil(lastTurn + (60_000 * ROOM) / rate - now));
  }

  return {
    of,
    waitMs,
    turnMs(route, task) {
      const turnMs = waitMs(route, task);
      if (turnMs === 0) return 0;
      const model = modelOf(route);
      const turn = elapsed() + turnMs;
      forgetBefore(model.turns, elapsed() - TURN_KEPT_MS);
      model.turns.delete(task);
      model.turns.set(task, turn);
      model.lastTurn = Math.max(model.lastTurn, turn);
      return turnMs;
    },
    take(route, task) {
      of(route.lane).take(elapsed());
      const model = modelOf(route);
      model.found.take(elapsed());
      if (task !== undefined) model.turns.delete(task);
    },
    tooOften: (route) =>
      (route.upstreamModel === WHOLE_ACCOUNT ? of(route.lane) : modelOf(route).found).slow(elapsed()),
    perMinute(route) {
      const rates = [lanes.get(route.lane), known(route)?.found].flatMap(
        (found) => found?.perMinute(elapsed()) ?? [],
      );
      return rates.length === 0 ? undefined : Math.min(...rates);
    },
  };
}

function newModelRate(): ModelRate {
  return { found: createFoundRate(), turns: new Map(), lastTurn: Number.NEGATIVE_INFINITY };
}

import type { LaneId } from "../../domain/ids.ts";
import { type RouteOfLane, WHOLE_ACCOUNT } from "../../domain/ports/route-store.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { createFoundRate, type FoundRate } from "./found-rate.ts";

/** How many submissions accounts take, and each of their models, learned from refusals. */
export interface FoundRates {
  /** Of all submissions of an account. */
  of(lane: LaneId): FoundRate;
  /** How long until a task may be submitted, as far as its model's rate allows it. */
  waitMs(route: RouteOfLane): number;
  /** How long until one that comes now has its turn, after those that wait for theirs. */
  nextTurnMs(route: RouteOfLane): number;
  /** See `Pace.turnMs`. */
  turnMs(route: RouteOfLane, mostMs: number): number;
  /** A submission goes. */
  take(route: RouteOfLane): void;
  /** See `Pace.tooOften`. */
  tooOften(route: RouteOfLane): void;
  /** The lower of the rates of the account and the model; undefined: neither is known. */
  perMinute(route: RouteOfLane): number | undefined;
}

interface ModelRate {
  readonly found: FoundRate;
  /** The latest turn that was given, by the clock that is never set. */
  lastTurn: number;
}

/** Turns are further apart than the rate requires, because one that comes too early needs another turn. */
const ROOM = 1.1;

export function createFoundRates({ elapsed }: Pick<Clock, "elapsed">): FoundRates {
  const lanes = new Map<LaneId, FoundRate>();
  /** By account and upstream model. */
  const models = new Map<LaneId, Map<string, ModelRate>>();
  const of = (lane: LaneId) => lanes.getOrInsertComputed(lane, createFoundRate);
  const known = ({ lane, upstreamModel }: RouteOfLane) => models.get(lane)?.get(upstreamModel);
  const modelOf = ({ lane, upstreamModel }: RouteOfLane) =>
    models.getOrInsertComputed(lane, () => new Map()).getOrInsertComputed(upstreamModel, newModelRate);

  function nextTurnMs(route: RouteOfLane): number {
    const model = known(route);
    const now = elapsed();
    if (model?.found.perMinute(now) === undefined) return 0;
    const { found, lastTurn } = model;
    // By then the rate has grown.
    const rate = found.perMinute(Math.max(now, lastTurn)) ?? Number.POSITIVE_INFINITY;
    return Math.max(found.waitMs(now), Math.ceil(lastTurn + (60_000 * ROOM) / rate - now));
  }

  return {
    of,
    waitMs: (route) => known(route)?.found.waitMs(elapsed()) ?? 0,
    nextTurnMs,
    turnMs(route, mostMs) {
      const turnMs = nextTurnMs(route);
      if (turnMs > 0 && turnMs <= mostMs) modelOf(route).lastTurn = elapsed() + turnMs;
      return turnMs;
    },
    take(route) {
      of(route.lane).take(elapsed());
      modelOf(route).found.take(elapsed());
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
  return { found: createFoundRate(), lastTurn: Number.NEGATIVE_INFINITY };
}

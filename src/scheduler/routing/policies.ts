import type { Model } from "../../domain/model/model.ts";
import type { RoutePolicy } from "../../domain/model/route-policy.ts";
import { routeCost } from "../../domain/money/upstream-cost.ts";
import type { Random } from "../../domain/ports/runtime.ts";
import type { GenerationRequest } from "../../domain/task/request.ts";
import type { ChosenRoute } from "../../domain/task/routing.ts";
import type { Durations } from "./durations.ts";
import type { Loads } from "./loads.ts";

/** What policies look at. */
export interface Ranking {
  readonly loads: Loads;
  readonly durations: Durations;
  readonly random: Random;
}

/** Gives each way a number; the lowest wins. If two are equal, the account with more room wins. */
export function rankOf(
  policy: RoutePolicy,
  { loads, durations, random }: Ranking,
  model: Model,
  request: GenerationRequest,
): (way: ChosenRoute) => number {
  const ordered = ({ index, lane }: ChosenRoute) => index + shareOf(loads, lane);
  switch (policy) {
    case "ordered":
      return ordered;
    case "least_busy":
      return ({ lane }) => loads.share(lane);
    case "weighted": {
      const drawn = drawRoute(model, random);
      return (way) => ordered(way) + (way.index === drawn ? -model.routes.length : 0);
    }
    case "cheapest":
      return (way) => (routeCost(model, way.route, request) ?? UNKNOWN_COST) * TIE + ordered(way);
    case "fastest":
      return (way) =>
        (durations.median(way.lane, way.route.upstreamModel, request) ?? 0) * TIE + ordered(way);
  }
}

/** The first criterion counts in steps that are larger than any difference of the second. */
const TIE = 1_000;
const UNKNOWN_COST = Number.MAX_SAFE_INTEGER / TIE;

/** Less than 1, so that it decides only between accounts of one route. */
function shareOf(loads: Loads, lane: ChosenRoute["lane"]): number {
  const share = loads.share(lane);
  return share / (1 + share);
}

/**
 * A route drawn at random by the weights of all routes, each 1 unless given. If it cannot be used, the others follow in their
 * order.
 */
function drawRoute({ routes }: Model, random: Random): number {
  const weights = routes.map(({ weight = 1 }) => weight);
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0);
  return weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
}

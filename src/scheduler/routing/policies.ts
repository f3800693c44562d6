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

/** Gives each way a number; the least is best. Where two are equal, the account with more room is. */
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

/** What is compared first counts in steps that no difference of what is compared next makes up for. */
const TIE = 1_000;
const UNKNOWN_COST = Number.MAX_SAFE_INTEGER / TIE;

/** Less than 1, so that it decides between accounts of one route only. */
function shareOf(loads: Loads, lane: ChosenRoute["lane"]): number {
  const share = loads.share(lane);
  return share / (1 + share);
}

/** A route drawn by the weights of all, 1 each unless given. Where it cannot be taken, the others follow in their order. */
function drawRoute({ routes }: Model, random: Random): number {
  const weights = routes.map(({ weight = 1 }) => weight);
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0);
  return weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
}

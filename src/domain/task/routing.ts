import type { ProviderId } from "../ids.ts";
import { canTake } from "../model/eligibility.ts";
import type { Model, Route } from "../model/model.ts";
import type { GenerationRequest } from "./request.ts";

export interface ChosenRoute {
  readonly route: Route;
  readonly index: number;
}

/**
 * The first of a model's routes, from position `from` on, whose provider is switched on and which can do the request exactly.
 *
 * @returns undefined when no such route is left
 */
export function chooseRoute(
  model: Model,
  request: GenerationRequest,
  isAvailable: (provider: ProviderId) => boolean,
  from = 0,
): ChosenRoute | undefined {
  const index = model.routes.findIndex(
    (route, i) => i >= from && isAvailable(route.provider) && canTake(route, request),
  );
  const route = model.routes[index];
  return route === undefined ? undefined : { route, index };
}

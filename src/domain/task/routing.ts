import type { ProviderId } from "../ids.ts";
import type { Model, Route } from "../model/model.ts";

export interface ChosenRoute {
  readonly route: Route;
  readonly index: number;
}

/**
 * The first of a model's routes, from position `from` on, whose provider is switched on.
 *
 * @returns undefined when no such route is left
 */
export function chooseRoute(
  model: Model,
  isAvailable: (provider: ProviderId) => boolean,
  from = 0,
): ChosenRoute | undefined {
  const index = model.routes.findIndex((route, i) => i >= from && isAvailable(route.provider));
  const route = model.routes[index];
  return route === undefined ? undefined : { route, index };
}

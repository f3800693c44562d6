import { invalid } from "../domain/errors.ts";
import type { AccountId } from "../domain/ids.ts";
import { canTake } from "../domain/model/eligibility.ts";
import type { Model } from "../domain/model/model.ts";
import { unrouted } from "../domain/model/unrouted.ts";
import type { Routing } from "../domain/ports/routing.ts";
import type { GenerationRequest } from "../domain/task/request.ts";
import { type ChosenRoute, isWanted } from "../domain/task/routing.ts";
import { withoutProvider } from "./read-model.ts";
import { routeText, routeUnknown } from "./routing-wish.ts";

/**
 * The way that a new task of an account takes first.
 * @throws AppError `model_not_available` if no provider makes the model, `invalid_request` if no route can do the request
 * exactly
 */
export function findRoute(
  { routing }: { readonly routing: Routing },
  model: Model,
  request: GenerationRequest,
  owner: AccountId,
): ChosenRoute {
  const chosen = routing.choose(model, request, { newOf: owner });
  if (chosen !== undefined) return chosen;
  const { route: wanted } = request.routing ?? {};
  const routes = model.routes.filter((route) => routing.has(route.provider) && isWanted(wanted, route));
  if (wanted !== undefined && !routes.some((route) => !canTake(route, request)))
    throw routeUnknown(routeText(wanted), model);
  throw routes.length === 0 ? withoutProvider(model) : invalid(unrouted(model, routes, request));
}

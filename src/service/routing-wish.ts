import type { Principal } from "../domain/access/account.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { LaneId } from "../domain/ids.ts";
import { providerOf } from "../domain/lane.ts";
import type { Model } from "../domain/model/model.ts";
import { ROUTE_POLICIES, type RoutePolicy } from "../domain/model/route-policy.ts";
import type { RoutingWish } from "../domain/task/request.ts";
import { isWanted } from "../domain/task/routing.ts";

/** How a request chooses its way, as written. */
export interface AskedRouting {
  readonly policy?: string | undefined;
  /** `fal`, `fal/second`, `fal:fal-ai/flux/dev`, `fal/second:fal-ai/flux/dev`. */
  readonly route?: string | undefined;
}

/**
 * The wish that decides a task's way: its request's, else its key's.
 *
 * @throws AppError `invalid_request` for an unknown policy, and for a route that the model does not have; `permission_denied`
 * if the key may not name routes
 */
export function readRouting(
  asked: AskedRouting | undefined,
  { policy: key }: Pick<Principal, "policy">,
  model: Model,
): RoutingWish | undefined {
  const policy = asked?.policy === undefined ? key.routePolicy : readPolicy(asked.policy);
  const route = asked?.route === undefined ? undefined : readRoute(asked.route, key, model);
  return policy === undefined && route === undefined ? undefined : { policy, route };
}

function readPolicy(given: string): RoutePolicy {
  const policy = ROUTE_POLICIES.find((each) => each === given);
  if (policy === undefined) throw invalid({ kind: "route_policy_unknown", given, known: ROUTE_POLICIES });
  return policy;
}

function readRoute(given: string, key: Principal["policy"], model: Model): RoutingWish["route"] {
  if (key.namedRoutes !== "allowed")
    throw new AppError("permission_denied", { kind: "route_forbidden" }, { shouldRetry: false });
  const [, lane = "", account, upstreamModel] = /^([^:/]+(\/[^:/]+)?)(?::(.+))?$/s.exec(given) ?? [];
  const provider = providerOf(lane as LaneId);
  const route = { provider, upstreamModel, account: account === undefined ? undefined : (lane as LaneId) };
  if (model.routes.some((each) => isWanted(route, each))) return route;
  throw routeUnknown(given, model);
}

/** The error for a named route that the model does not have, or whose account is switched off. */
export function routeUnknown(given: string, model: Model): AppError {
  const known = model.routes.flatMap(({ provider, upstreamModel }) => [
    provider,
    `${provider}:${upstreamModel}`,
  ]);
  return invalid({ kind: "route_unknown", given, model: model.id, known: [...new Set(known)] });
}

/** Writes a named route as requests do. */
export function routeText({ provider, account, upstreamModel }: NonNullable<RoutingWish["route"]>): string {
  return `${account ?? provider}${upstreamModel === undefined ? "" : `:${upstreamModel}`}`;
}

import type { Principal } from "../../domain/access/account.ts";
import type { ProviderId } from "../../domain/ids.ts";
import type { Model, Route } from "../../domain/model/model.ts";
import { aliasedId, type ModelDeps, readModel } from "../../service/read-model.ts";

/** Names this service for a client that requires a model's owner: `svc/sandbox-image`. */
export const OWNER = "svc";
const OWNED = `${OWNER}/`;

/** A model that a client of another API asks for, and the route by whose name it did. */
export interface AskedModel {
  readonly model: Model;
  readonly route?: Route | undefined;
}

/**
 * The model that a client of another API means: an alias, our id with or without `svc/` before it, or the name that the API itself has
 * for it, by our route to that API.
 *
 * @param isNamed whether a route of `provider` has this name in that API; its name as an upstream's model unless given
 * @throws AppError as `readModel`
 */
export function askedModel(
  deps: ModelDeps,
  principal: Principal,
  name: string,
  {
    provider,
    isNamed = (route) => route.upstreamModel === name,
  }: { readonly provider?: ProviderId | undefined; readonly isNamed?: (route: Route) => boolean },
): AskedModel {
  const own = ownModel(deps, principal, name);
  if (own !== undefined) return { model: own };
  if (provider === undefined) return { model: readModel(deps, principal, withoutOwner(name)) };
  const isTheirs = (route: Route) => route.provider === provider && isNamed(route);
  // Also one that no provider makes at present, so that its caller is told that and not that there is none.
  const model = deps.catalog.all().find(({ routes }) => routes.some(isTheirs));
  if (model === undefined) return { model: readModel(deps, principal, withoutOwner(name)) };
  const found = readModel(deps, principal, model.id);
  return { model: found, route: found.routes.find(isTheirs) };
}

const withoutOwner = (name: string) => (name.startsWith(OWNED) ? name.slice(OWNED.length) : name);

/**
 * The model of an alias, or of our id with or without `svc/` before it; undefined for every other name.
 * @throws AppError as `readModel`
 */
export function ownModel(deps: ModelDeps, principal: Principal, name: string): Model | undefined {
  const own = withoutOwner(name);
  const isOwn = deps.catalog.find(own) !== undefined || aliasedId(deps, principal, own) !== undefined;
  return isOwn ? readModel(deps, principal, own) : undefined;
}

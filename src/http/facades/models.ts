import type { Principal } from "../../domain/access/account.ts";
import type { ProviderId } from "../../domain/ids.ts";
import type { Model, Route } from "../../domain/model/model.ts";
import { aliasedId, type ModelDeps, readModel } from "../../service/read-model.ts";

/** Stands for this service where a client insists on a model's owner: `svc/sandbox-image`. */
export const OWNER = "svc";

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
  const own = name.startsWith(`${OWNER}/`) ? name.slice(OWNER.length + 1) : name;
  const isOwn = aliasedId(deps, principal, own) !== undefined || deps.catalog.find(own) !== undefined;
  if (isOwn || provider === undefined) return { model: readModel(deps, principal, own) };
  const isTheirs = (route: Route) => route.provider === provider && isNamed(route);
  // Also one that no provider makes at present, so that its caller is told that and not that there is none.
  const model = deps.catalog.all().find(({ routes }) => routes.some(isTheirs));
  if (model === undefined) return { model: readModel(deps, principal, own) };
  const found = readModel(deps, principal, model.id);
  return { model: found, route: found.routes.find(isTheirs) };
}

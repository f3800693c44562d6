import type { ProviderId } from "../ids.ts";
import { providerOf } from "../lane.ts";
import type { RouteTrouble } from "../ports/route-store.ts";
import { either } from "../words/say.ts";
import type { Model, Route, RouteName } from "./model.ts";

/** Names what an operator must set to switch a provider on, such as `OPENAI_API_KEY`; empty for one that is on. */
export type NeedsOf = (provider: ProviderId) => readonly string[];

/** A route and what is missing for it, for operators. */
export interface RouteState extends RouteName, Pick<Route, "modes" | "only"> {
  /** Empty for a route that can be taken. */
  readonly needs: readonly string[];
  /** What the upstream said when it refused our key, our account or the model; absent for a route that works or was not tried. */
  readonly refused?: Pick<RouteTrouble, "detail" | "since"> | undefined;
}

export function routeStates(
  model: Model,
  needsOf: NeedsOf,
  troubles: readonly RouteTrouble[] = [],
): RouteState[] {
  return model.routes.map(({ provider, upstreamModel, modes, only }) => ({
    ...{ provider, upstreamModel, modes, only },
    needs: needsOf(provider),
    refused: refusalOf({ provider, upstreamModel }, troubles),
  }));
}

/** What an account of the provider is refused, and which one, unless it is the default one. */
function refusalOf({ provider, upstreamModel }: RouteName, troubles: readonly RouteTrouble[]) {
  const found = troubles.find(
    (each) => providerOf(each.lane) === provider && each.upstreamModel === upstreamModel,
  );
  if (found === undefined || found.lane === provider) return found;
  return { ...found, detail: `${found.lane}: ${found.detail}` };
}

/** Whether any of the routes can be taken. */
export function isAvailable(routes: readonly RouteState[]): boolean {
  return routes.some(canBeTaken);
}

export function canBeTaken({ needs }: Pick<RouteState, "needs">): boolean {
  return needs.length === 0;
}

/** The least that makes one of the routes usable, `OPENAI_API_KEY or FAL_KEY`; empty for none. */
export function needsText(routes: readonly Pick<RouteState, "needs">[]): string {
  return either([...new Set(routes.map(({ needs }) => needs.join(" and ")))].filter((needs) => needs !== ""));
}

import type { LaneId, ProviderId } from "../ids.ts";
import { providerOf } from "../lane.ts";
import type { RouteTrouble } from "../ports/route-store.ts";
import { either } from "../words/say.ts";
import type { Model, Route, RouteName } from "./model.ts";
import { type Standing, standingFrom } from "./standing.ts";

/** Names what an operator must set to switch a provider on, such as `OPENAI_API_KEY`; empty for one that is on. */
export type NeedsOf = (provider: ProviderId) => readonly string[];

/** A route, and what an operator must set before it can be used. */
export interface RouteState extends RouteName, Pick<Route, "modes" | "only"> {
  /** Empty for a route that can be taken. */
  readonly needs: readonly string[];
  /** The accounts to which the route currently sends no tasks, and why. */
  readonly troubles: readonly AccountTrouble[];
  /** Whether these are all accounts of the provider. */
  readonly isShut: boolean;
}

export interface AccountTrouble extends Standing {
  readonly lane: LaneId;
}

/** What is known of accounts. */
export interface KnownAccounts {
  readonly troubles: readonly RouteTrouble[];
  /** The accounts of a provider that are switched on; undefined if this is not known. */
  readonly lanesOf: (provider: ProviderId) => readonly LaneId[] | undefined;
  readonly now: number;
}

const NOTHING_KNOWN: KnownAccounts = { troubles: [], lanesOf: () => undefined, now: 0 };

export function routeStates(model: Model, needsOf: NeedsOf, known = NOTHING_KNOWN): RouteState[] {
  return model.routes.map((route) => {
    const { provider, upstreamModel, modes, only } = route;
    return { provider, upstreamModel, modes, only, needs: needsOf(provider), ...troublesOf(route, known) };
  });
}

function troublesOf(
  { provider, upstreamModel, account }: Route,
  { troubles, lanesOf, now }: KnownAccounts,
): Pick<RouteState, "troubles" | "isShut"> {
  const known = troubles.filter((each) => providerOf(each.lane) === provider).map(({ lane }) => lane);
  const lanes = [...new Set(lanesOf(provider) ?? known)].filter((lane) => lane === (account ?? lane));
  const all = lanes.map((lane) => ({ lane, ...standingFrom(troubles, { lane, upstreamModel }, now) }));
  const shut = all.filter(({ state }) => state !== "closed");
  return { troubles: shut, isShut: shut.length > 0 && shut.length === all.length };
}

/** The upstream's message when it refused our key, our account or the model; undefined if the account is not refused. */
export function refusalOf({ troubles, isShut }: Pick<RouteState, "troubles" | "isShut">) {
  const isRefused = isShut && troubles.every(({ state }) => state === "refused");
  return isRefused ? troubles[0] : undefined;
}

/** Whether any of the routes can be taken. */
export function isAvailable(routes: readonly RouteState[]): boolean {
  return routes.some(canBeTaken);
}

export function canBeTaken({ needs }: Pick<RouteState, "needs">): boolean {
  return needs.length === 0;
}

/** The least that an operator must set to make one of the routes usable, `OPENAI_API_KEY or FAL_KEY`; empty if nothing is missing. */
export function needsText(routes: readonly Pick<RouteState, "needs">[]): string {
  return either([...new Set(routes.map(({ needs }) => needs.join(" and ")))].filter((needs) => needs !== ""));
}

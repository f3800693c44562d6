import type { LaneId, ProviderId } from "../ids.ts";
import type { Route } from "../model/model.ts";
import type { Standing } from "../model/standing.ts";
import type { RoutingWish } from "./request.ts";

/** A route of a model at one account, for a task. */
export interface ChosenRoute {
  readonly route: Route;
  /** Position in the model's routes. */
  readonly index: number;
  readonly lane: LaneId;
  /** How long until the route can take a task. 0: now. Infinite: only after an operator has acted. */
  readonly waitMs: number;
  /** How often the task was sent this way. */
  readonly tries: number;
  readonly state: Standing["state"];
  /** See `ProviderAdapter.setupOf`. */
  readonly setup?: string | undefined;
}

/**
 * What happens to a task whose submission got no answer, if its upstream can neither look it up nor recognise a repetition.
 * `fail`: the task ends uncharged, because another submission may cost twice · `resubmit`: it is submitted again, at the
 * operator's cost.
 */
export const ON_UNKNOWN = ["fail", "resubmit"] as const;
export type OnUnknown = (typeof ON_UNKNOWN)[number];

/** Whether a request that names its route may take this one. */
export function isWanted(wanted: RoutingWish["route"], route: Route): boolean {
  if (wanted === undefined) return true;
  const { provider, upstreamModel = route.upstreamModel, account = route.account } = wanted;
  return (
    provider === route.provider &&
    upstreamModel === route.upstreamModel &&
    (route.account === undefined || route.account === account)
  );
}

/** Whether only an operator can open a way, so that waiting for it is useless. */
export function isOut({ state, waitMs }: Pick<ChosenRoute, "state" | "waitMs">): boolean {
  return waitMs > 0 && (state === "refused" || state === "spent");
}

/**
 * Why a way was taken or not: `chosen` · `standby` another way came first under the policy, or because the task waited there ·
 * `tried` the task was sent there before · `held_back` the way is reserved for tasks that would wait too long elsewhere
 * (`overflow`) · `not_asked_for` the request names another route · `cannot` the way cannot do the request exactly · `off` no
 * account is switched on · otherwise the obstacle (`Standing`).
 */
export const VERDICTS = [
  ...(["chosen", "standby", "tried", "held_back", "not_asked_for", "cannot", "off"] as const),
  ...(["open", "half_open", "refused", "spent", "blocked", "paused"] as const),
] as const;

/** A way that was considered when an attempt chose. */
export interface ConsideredWay {
  /** Only the provider if no account of it was switched on. */
  readonly lane: LaneId | ProviderId;
  readonly upstreamModel: string;
  readonly verdict: (typeof VERDICTS)[number];
}

/** A way as an operator reads about it. `lane` is absent if the provider has no account that is switched on. */
export interface Way {
  readonly route: Route;
  readonly index: number;
  readonly lane?: LaneId | undefined;
  readonly standing: Standing;
  /** What keeps tasks of other callers away there, if nothing keeps this one's. */
  readonly ofOthers?: string | undefined;
  /** Whether the route can do the request exactly. */
  readonly isAble: boolean;
  /** The way that would be taken. */
  readonly isChosen: boolean;
  /** The way that would be taken next. */
  readonly isNext: boolean;
}

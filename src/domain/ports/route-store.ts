import type { Act } from "../access/actor.ts";
import type { AccountId, LaneId } from "../ids.ts";

/** An account of a provider, and its name for a model. */
export interface RouteOfLane {
  readonly lane: LaneId;
  readonly upstreamModel: string;
}

/** Replaces the upstream's model in an entry that concerns a whole account. */
export const WHOLE_ACCOUNT = "";

/** Whether a route is the given one. If the given one stands for a whole account: whether the route belongs to that account. */
export function isWithin(one: RouteOfLane, { lane, upstreamModel }: RouteOfLane): boolean {
  return one.lane === lane && (upstreamModel === WHOLE_ACCOUNT || one.upstreamModel === upstreamModel);
}

/**
 * Why no tasks are sent. `open` it failed several times in a row · `refused` the upstream refuses our key, our account or the
 * model · `spent` our account there has no money left · `blocked` an operator wants it so.
 */
export const TROUBLES = ["open", "refused", "spent", "blocked"] as const;
export type TroubleKind = (typeof TROUBLES)[number];

/** A route at an account, or a whole account, that gets no tasks. */
export interface RouteTrouble extends RouteOfLane {
  readonly kind: TroubleKind;
  /** What the upstream or the operator said; free of secrets. */
  readonly detail: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** When it is tried again, in epoch milliseconds. Absent: after an operator has acted. */
  readonly until?: number | undefined;
  /** How many times in a row this state was found; each time makes the next wait longer. */
  readonly times: number;
  /** The callers whose tasks have met it, while the cause may be theirs; absent: it counts for everybody. */
  readonly callers?: readonly AccountId[] | undefined;
  /** Whether tasks of others were done there since. Absent for what counts for everybody. */
  readonly servesOthers?: boolean | undefined;
}

/**
 * Whether a problem keeps a caller's tasks away. What two callers have met keeps others away too, but for one task that tries it,
 * until others are served there. @param caller absent: somebody who may have met it
 */
export function keepsAway(trouble: RouteTrouble, caller: AccountId | undefined): boolean {
  const { callers, servesOthers = false } = trouble;
  return hasMet(trouble, caller) || (callers !== undefined && callers.length > 1 && !servesOthers);
}

/** Whether a caller's tasks have met a problem, or it counts for everybody. @param caller as for `keepsAway` */
export function hasMet(
  { callers, servesOthers = false }: RouteTrouble,
  caller: AccountId | undefined,
): boolean {
  return callers === undefined || (caller === undefined ? !servesOthers : callers.includes(caller));
}

/** The known problems of routes. Every method is one transaction. */
export interface RouteStore {
  troubles(): Promise<RouteTrouble[]>;
  /**
   * The known problems if another process may have changed them since the last call; undefined if none has. Reads at most twice
   * a second.
   */
  changedTroubles(now: number): Promise<RouteTrouble[] | undefined>;
  /**
   * Replaces what was known about the route. What an operator blocks is replaced by an operator alone: this process may not have heard
   * of it yet. @param act an operator's act, for the trail
   */
  set(trouble: RouteTrouble, act?: Act): Promise<void>;
  /** Records that the route works; as `set`, only an operator ends a block. */
  clear(route: RouteOfLane, act?: Act): Promise<void>;
}

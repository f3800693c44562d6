import type { Act } from "../access/actor.ts";
import type { LaneId } from "../ids.ts";

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
}

/** The known problems of routes. Every method is one transaction. */
export interface RouteStore {
  troubles(): Promise<RouteTrouble[]>;
  /**
   * The known problems if another process may have changed them since the last call; undefined if none has. Reads at most twice
   * a second.
   */
  changedTroubles(now: number): Promise<RouteTrouble[] | undefined>;
  /** Replaces what was known about the route. @param act an operator's act, for the trail */
  set(trouble: RouteTrouble, act?: Act): Promise<void>;
  /** Records that the route works. @param act as in `set` */
  clear(route: RouteOfLane, act?: Act): Promise<void>;
}

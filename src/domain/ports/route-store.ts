import type { Act } from "../access/actor.ts";
import type { LaneId } from "../ids.ts";

/** What an account of a provider calls a model. */
export interface RouteOfLane {
  readonly lane: LaneId;
  readonly upstreamModel: string;
}

/** In place of an upstream's model: what concerns an account as a whole. */
export const WHOLE_ACCOUNT = "";

/** Whether a route is the given one, or one of the account that is given as a whole. */
export function isWithin(one: RouteOfLane, { lane, upstreamModel }: RouteOfLane): boolean {
  return one.lane === lane && (upstreamModel === WHOLE_ACCOUNT || one.upstreamModel === upstreamModel);
}

/**
 * Why nothing is sent. `open` it failed several times in a row · `refused` the upstream refuses our key, our account or the model ·
 * `spent` our account there has no money left · `blocked` an operator wants it so.
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
  /** When it is tried again, in epoch milliseconds; absent: when somebody has seen to it. */
  readonly until?: number | undefined;
  /** How often in a row it was found to be so; each time makes the next wait longer. */
  readonly times: number;
}

/** What is known to be wrong with routes. Every method is one transaction. */
export interface RouteStore {
  troubles(): Promise<RouteTrouble[]>;
  /** The same where another process may have changed it since the last call; undefined where none has. Looks twice a second at most. */
  changedTroubles(now: number): Promise<RouteTrouble[] | undefined>;
  /** Replaces what was known of the route. @param act of an operator, for the trail */
  set(trouble: RouteTrouble, act?: Act): Promise<void>;
  /** The route works. @param act as of `set` */
  clear(route: RouteOfLane, act?: Act): Promise<void>;
}

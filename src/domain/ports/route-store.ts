import type { LaneId } from "../ids.ts";

/** What an account of a provider calls a model. */
export interface RouteOfLane {
  readonly lane: LaneId;
  readonly upstreamModel: string;
}

/** A route whose upstream refuses our key, our account or the model, which only the operator can put right. */
export interface RouteTrouble extends RouteOfLane {
  /** What the upstream said; free of secrets. */
  readonly detail: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** What is known to be wrong with routes. Every method is one transaction. */
export interface RouteStore {
  troubles(): Promise<RouteTrouble[]>;
  /** Replaces what was known of the route. */
  set(trouble: RouteTrouble): Promise<void>;
  /** The route works. */
  clear(route: RouteOfLane): Promise<void>;
}

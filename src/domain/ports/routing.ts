import type { AccountId, ProviderId } from "../ids.ts";
import type { Model } from "../model/model.ts";
import type { GenerationRequest } from "../task/request.ts";
import type { ChosenRoute, ConsideredWay, Way } from "../task/routing.ts";
import type { Attempt, Task } from "../task/task.ts";

/** What is known about a task besides its request when a way is chosen for it. */
export interface Looking {
  /**
   * Its attempts so far. A way that was tried is used again only if no untried way is left. A way whose job failed (`done`, and
   * the task goes on) is not used again.
   */
  readonly attempts?: readonly TriedWay[] | undefined;
  /** The account whose new task it is. The task counts as waiting there from now on. */
  readonly newOf?: AccountId | undefined;
  /** Where the task waits, and whose it is. The task stays there if no other way is better. */
  readonly current?:
    | (Pick<Task, "lane" | "routeIndex"> & Partial<Pick<Task, "id" | "accountId">>)
    | undefined;
}

export type TriedWay = Pick<Attempt, "lane" | "upstreamModel"> & Partial<Pick<Attempt, "id" | "state">>;

/** Chooses among the routes of a model and the accounts at their providers. */
export interface Routing {
  /** Whether the provider has an account that is switched on. */
  has(provider: ProviderId): boolean;
  /**
   * The best way for a request under its policy. It must do the request exactly and be usable now; if there is none, the way
   * that is usable soonest. Without `looking` it is for a new task of nobody in particular; see `Looking.newOf`.
   * @returns undefined if no way that is switched on can do it
   */
  choose(model: Model, request: GenerationRequest, looking?: Looking): ChosenRoute | undefined;
  /**
   * How long no new task of this caller can be sent any way of the model, whatever it asks for. 0: one may be sent now. Infinite: until an
   * operator has acted.
   */
  closedMs(model: Model, caller: AccountId): number;
  /** The new task for which this way was chosen is not stored. */
  giveBack(model: Model, way: ChosenRoute): void;
  /**
   * Why each way of a model was taken or not, when `choose` had chosen this one. @returns undefined if the model has only one
   * way
   */
  verdicts(
    model: Model,
    request: GenerationRequest,
    looking: Looking,
    chosen: ChosenRoute,
  ): ConsideredWay[] | undefined;
  /**
   * Every way of a model, in the order in which the ways would be used, with the obstacle of each for a new task of this caller; or of one
   * who may have met what some callers have, unless others are served there.
   */
  consider(model: Model, request: GenerationRequest, caller?: AccountId): readonly Way[];
}

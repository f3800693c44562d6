import type { LaneId, ProviderId } from "../ids.ts";
import type { Model } from "../model/model.ts";
import type { GenerationRequest } from "../task/request.ts";
import type { ChosenRoute, ConsideredWay, Way } from "../task/routing.ts";
import type { Attempt } from "../task/task.ts";

/** What is known of a task besides its request when it looks for a way. */
export interface Looking {
  /**
   * Its attempts so far. A way that was tried is taken again only where none is left that was not; one whose job failed (`done`, and the
   * task goes on) is not taken again.
   */
  readonly attempts?: readonly TriedWay[] | undefined;
  /** Where it waits. It stays there if that is as good as any other way. */
  readonly current?: { readonly lane: LaneId; readonly routeIndex: number } | undefined;
}

export type TriedWay = Pick<Attempt, "lane" | "upstreamModel"> & Partial<Pick<Attempt, "id" | "state">>;

/** Chooses among the routes of a model and the accounts at their providers. */
export interface Routing {
  /** Whether the provider has an account that is switched on. */
  has(provider: ProviderId): boolean;
  /**
   * The best way for a request, by the policy that counts for it, which can do it exactly and can be taken now; else the one that can be
   * soonest. @returns undefined where no way that is switched on can do it
   */
  choose(model: Model, request: GenerationRequest, looking?: Looking): ChosenRoute | undefined;
  /**
   * Why each way of a model was taken or not, when `choose` had chosen this one. @returns undefined where the model has one way only
   */
  verdicts(
    model: Model,
    request: GenerationRequest,
    looking: Looking,
    chosen: ChosenRoute,
  ): ConsideredWay[] | undefined;
  /** Every way of a model, in the order in which they would be taken, with what is in the way of each. */
  consider(model: Model, request: GenerationRequest): readonly Way[];
}

import type { Model } from "../../domain/model/model.ts";
import type { Looking } from "../../domain/ports/routing.ts";
import type { GenerationRequest } from "../../domain/task/request.ts";
import { type ChosenRoute, isOut } from "../../domain/task/routing.ts";
import { type Ranking, rankOf } from "./policies.ts";

/** What a choice is made for. */
export interface Choosing {
  readonly model: Model;
  readonly request: GenerationRequest;
  readonly looking: Looking;
}

interface Ranked {
  readonly way: ChosenRoute;
  readonly rank: number;
  readonly hasRoom: boolean;
}

/** The best of some ways that a task may go; undefined where there is none. */
export function bestAmong(
  ways: readonly ChosenRoute[],
  ranking: Ranking,
  { model, request, looking }: Choosing,
): ChosenRoute | undefined {
  const policy = request.routing?.policy ?? model.routePolicy ?? "ordered";
  const rank = rankOf(policy, ranking, model, request);
  // The policy decides where tasks wait. A task that was sent before does not wait if there is room anywhere.
  const wasSent = looking.attempts !== undefined && looking.attempts.length > 0;
  let best: Ranked | undefined;
  for (const way of ways) {
    const one = { way, rank: rank(way), hasRoom: !wasSent || ranking.loads.turns(way.lane) === 0 };
    if (best === undefined || isBetter(one, best, looking)) best = one;
  }
  return best?.way;
}

/**
 * Compares in this order: whether the way can be used now, when it opens by itself, how often it was tried, whether the task
 * already waits there, whether it has room, and the policy.
 */
function isBetter(one: Ranked, best: Ranked, { current }: Looking): boolean {
  const [a, b] = [one.way, best.way];
  if (isOut(a) !== isOut(b)) return isOut(b);
  if (a.waitMs === 0 || b.waitMs === 0) {
    if (a.waitMs !== b.waitMs) return a.waitMs === 0;
  } else if (a.waitMs !== b.waitMs) return a.waitMs < b.waitMs;
  if (a.tries !== b.tries) return a.tries < b.tries;
  const isCurrent = (way: ChosenRoute) => way.lane === current?.lane && way.index === current.routeIndex;
  if (isCurrent(a) || isCurrent(b)) return isCurrent(a);
  if (one.hasRoom !== best.hasRoom) return one.hasRoom;
  return one.rank < best.rank;
}

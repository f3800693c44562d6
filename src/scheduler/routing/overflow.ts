import type { ModelId } from "../../domain/ids.ts";
import type { Model, Overflow as OverflowTerms, Route } from "../../domain/model/model.ts";
import { routeCost } from "../../domain/money/upstream-cost.ts";
import type { Looking } from "../../domain/ports/routing.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { GenerationRequest } from "../../domain/task/request.ts";
import type { ChosenRoute } from "../../domain/task/routing.ts";
import { isWanted } from "../../domain/task/routing.ts";
import type { Durations } from "./durations.ts";
import type { Loads } from "./loads.ts";

/** Sends a model's tasks to a more expensive route if they would wait too long, within its budget. */
export interface Overflow {
  /** Chooses a task's way from the best one among the model's usual routes and the best one at the more expensive route. */
  choose(
    asked: Asked,
    usual: ChosenRoute | undefined,
    dearer: ChosenRoute | undefined,
  ): ChosenRoute | undefined;
  /** A task goes there. */
  spend(asked: Asked, way: ChosenRoute): void;
  /** The task that was to go this way does not. */
  giveBack(model: Model, way: ChosenRoute): void;
}

interface Asked {
  readonly model: Model;
  readonly terms: OverflowTerms;
  readonly request: GenerationRequest;
  readonly looking: Looking;
}

interface Spent {
  readonly at: number;
  readonly cost: number;
  readonly way: ChosenRoute;
}

const HOUR_MS = 3_600_000;

export function isDearer({ overflow }: Model, route: Route): boolean {
  return overflow !== undefined && isWanted(overflow.to, route);
}

/** Spending is kept in memory, so a restart begins a new hour. */
export function createOverflow(deps: {
  readonly clock: Pick<Clock, "elapsed">;
  readonly loads: Loads;
  readonly durations: Durations;
}): Overflow {
  const hours = new Map<ModelId, Spent[]>();

  function waitMs(way: ChosenRoute, request: GenerationRequest): number {
    const usualMs = deps.durations.median(way.lane, way.route.upstreamModel, request) ?? 0;
    return Math.max(way.waitMs, deps.loads.turns(way.lane) * usualMs);
  }

  /** How long until the hour's budget has room for one more task; infinite if it never has. */
  function budgetMs({ model, terms, request }: Asked, { route }: ChosenRoute): number {
    const now = deps.clock.elapsed();
    const spent = (hours.get(model.id) ?? []).filter(({ at }) => at > now - HOUR_MS);
    hours.set(model.id, spent);
    const cost = routeCost(model, route, request) ?? 0;
    const { mostPerHour = Number.POSITIVE_INFINITY, mostCost = Number.POSITIVE_INFINITY } = terms;
    const fits = (count: number, total: number) => count < mostPerHour && total + cost <= mostCost;
    let total = spent.reduce((sum, each) => sum + each.cost, 0);
    let freeAt = now;
    for (const [i, each] of spent.entries()) {
      if (fits(spent.length - i, total)) return freeAt - now;
      total -= each.cost;
      freeAt = each.at + HOUR_MS;
    }
    return fits(0, 0) ? freeAt - now : Number.POSITIVE_INFINITY;
  }

  return {
    choose(asked, usual, dearer) {
      if (dearer === undefined) return usual;
      const isThere = isCurrent(asked.looking, dearer);
      if (isThere && dearer.waitMs === 0) return dearer;
      const isServed = usual !== undefined && usual.tries <= dearer.tries;
      if (isServed && waitMs(usual, asked.request) <= asked.terms.afterMs) return usual;
      const untilMs = isThere ? 0 : budgetMs(asked, dearer);
      if (untilMs === 0 && dearer.waitMs === 0) return dearer;
      return usual ?? { ...dearer, waitMs: Math.max(dearer.waitMs, untilMs) };
    },
    spend({ model, request, looking }, way) {
      if (!isDearer(model, way.route) || isCurrent(looking, way)) return;
      const cost = routeCost(model, way.route, request) ?? 0;
      hours.getOrInsertComputed(model.id, () => []).push({ at: deps.clock.elapsed(), cost, way });
    },
    giveBack(model, way) {
      const spent = isDearer(model, way.route) ? hours.get(model.id) : undefined;
      const at = spent?.findLastIndex((each) => each.way === way) ?? -1;
      if (at !== -1) spent?.splice(at, 1);
    },
  };
}

function isCurrent({ current }: Looking, { lane, index }: ChosenRoute): boolean {
  return current?.lane === lane && current.routeIndex === index;
}

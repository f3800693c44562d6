import type { LaneId, ProviderId } from "../../domain/ids.ts";
import { canTake } from "../../domain/model/eligibility.ts";
import type { Model, Route } from "../../domain/model/model.ts";
import type { RoutePolicy } from "../../domain/model/route-policy.ts";
import { CLOSED, type Standing } from "../../domain/model/standing.ts";
import type { ProviderAdapter } from "../../domain/ports/provider.ts";
import type { Looking, Routing } from "../../domain/ports/routing.ts";
import type { Clock, Random } from "../../domain/ports/runtime.ts";
import type { GenerationRequest } from "../../domain/task/request.ts";
import {
  type ChosenRoute,
  type ConsideredWay,
  isOut,
  isWanted,
  type Way,
} from "../../domain/task/routing.ts";
import type { Loads } from "./loads.ts";
import { isDearer, type Overflow } from "./overflow.ts";
import type { Pace } from "./pace.ts";
import { type Ranking, rankOf } from "./policies.ts";
import type { RouteStanding } from "./standing.ts";

export interface RoutingDeps extends Ranking {
  /** The accounts that are switched on. May be another list each time; each list stays as it is. */
  readonly adapters: () => readonly ProviderAdapter[];
  readonly standing: Pick<RouteStanding, "isClear" | "of" | "waitMs">;
  readonly pace: Pick<Pace, "pausedMs" | "heldMs">;
  readonly loads: Loads;
  readonly overflow: Overflow;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

/** Nothing in the way, and nothing known of the task. */
const NOTHING: Looking = {};

export function createRouting(deps: RoutingDeps): Routing {
  const accountsOf = createGrouping(deps);

  /** The ways of a route that its task may go, whatever their standing. */
  function* waysOf(
    route: Route,
    index: number,
    { routing }: GenerationRequest,
    looking: Looking,
  ): Generator<ChosenRoute> {
    for (const { lane } of accountsOf.inTurn(route.provider)) {
      if (lane !== (route.account ?? lane) || lane !== (routing?.route?.account ?? lane)) continue;
      if (hasFailed(looking, route, lane)) continue;
      yield { route, index, lane, ...outlookOf(deps, route, lane, looking) };
    }
  }

  function* waysTo(
    model: Model,
    request: GenerationRequest,
    looking: Looking,
    isMeant: (route: Route) => boolean,
  ): Generator<ChosenRoute> {
    for (const [index, route] of model.routes.entries())
      if (isMeant(route) && isWanted(request.routing?.route, route) && canTake(route, request))
        yield* waysOf(route, index, request, looking);
  }

  function bestOf(model: Model, request: GenerationRequest, looking = NOTHING): ChosenRoute | undefined {
    const only = looking === NOTHING ? onlyWay(deps, accountsOf.provider, model, request) : undefined;
    if (only !== undefined) return only;
    const ranks = rankOf(policyOf(model, request), deps, model, request);
    // The policy says where tasks wait. What was held up already waits nowhere, if there is room anywhere.
    const wasSent = (looking.attempts?.length ?? 0) > 0;
    const hasRoom = ({ lane }: ChosenRoute) => !wasSent || deps.loads.turns(lane) === 0;
    const among = (isMeant: (route: Route) => boolean) =>
      bestAmong(waysTo(model, request, looking, isMeant), looking, { ranks, hasRoom });
    const { overflow: terms } = model;
    // Who names a route has it.
    if (terms === undefined || request.routing?.route !== undefined) return among(() => true);
    const [usual, dearer] = [false, true].map((is) => among((route) => isDearer(model, route) === is));
    return deps.overflow.choose({ model, terms, request, looking }, usual, dearer);
  }

  return {
    has: (provider: ProviderId) => accountsOf.provider(provider).length > 0,
    choose(model, request, looking) {
      const best = bestOf(model, request, looking);
      const { overflow: terms } = model;
      if (best !== undefined && terms !== undefined)
        deps.overflow.spend({ model, terms, request, looking: looking ?? NOTHING }, best);
      // A task that exists is counted where it waits.
      if (best !== undefined && looking === undefined) deps.loads.assigned(best.lane);
      return best;
    },
    verdicts: (model, request, looking, chosen) =>
      verdictsOf(deps, { model, request, looking, chosen, accountsOf: accountsOf.provider }),
    consider: (model, request) =>
      considered(deps, model, request, {
        bestOf: (looking) => bestOf(model, request, looking),
        waysOf: (route, index) => [...waysOf(route, index, request, NOTHING)],
      }),
  };
}

/** What most models have: one route, one account, and nothing is known against it. Every create asks. */
function onlyWay(
  { standing }: RoutingDeps,
  accountsOf: (provider: ProviderId) => readonly ProviderAdapter[],
  model: Model,
  request: GenerationRequest,
): ChosenRoute | undefined {
  const [route, second] = model.routes;
  if (route === undefined || second !== undefined || route.account !== undefined) return undefined;
  const [account, other] = accountsOf(route.provider);
  const isOnly = account !== undefined && other === undefined && request.routing === undefined;
  if (!isOnly || !standing.isClear() || !canTake(route, request)) return undefined;
  return { route, index: 0, lane: account.lane, waitMs: 0, tries: 0, state: "closed" };
}

function considered(
  deps: RoutingDeps,
  model: Model,
  request: GenerationRequest,
  found: {
    bestOf(looking?: Looking): ChosenRoute | undefined;
    waysOf(route: Route, index: number): readonly ChosenRoute[];
  },
): Way[] {
  const chosen = found.bestOf();
  const after = chosen && found.bestOf({ attempts: [triedOf(chosen)] });
  const next = after?.tries === 0 && after.waitMs === 0 ? after : undefined;
  return model.routes.flatMap((route, index): Way[] => {
    const isAble = isWanted(request.routing?.route, route) && canTake(route, request);
    const ways = found.waysOf(route, index);
    if (ways.length === 0)
      return [{ route, index, standing: CLOSED, isAble, isChosen: false, isNext: false }];
    return ways.map(({ lane }) => ({
      ...{ route, index, lane, isAble, standing: standingOf(deps, route, lane) },
      isChosen: chosen?.index === index && chosen.lane === lane,
      isNext: next?.index === index && next.lane === lane,
    }));
  });
}

interface Choice {
  readonly model: Model;
  readonly request: GenerationRequest;
  readonly looking: Looking;
  readonly chosen: ChosenRoute;
  accountsOf(provider: ProviderId): readonly ProviderAdapter[];
}

/** What most tasks have is one way, of which there is nothing to tell. */
function verdictsOf(deps: RoutingDeps, choice: Choice): ConsideredWay[] | undefined {
  const { model, accountsOf } = choice;
  const [first] = model.routes;
  if (first === undefined || (model.routes.length === 1 && accountsOf(first.provider).length < 2))
    return undefined;
  return model.routes.flatMap((route, index): ConsideredWay[] => {
    const { upstreamModel, provider, account } = route;
    const lanes = accountsOf(provider).flatMap(({ lane }) => (lane === (account ?? lane) ? lane : []));
    if (lanes.length === 0) return [{ lane: account ?? provider, upstreamModel, verdict: "off" }];
    return lanes.map((lane) => ({
      ...{ lane, upstreamModel },
      verdict: verdictOf(deps, choice, { route, index, lane }),
    }));
  });
}

function verdictOf(
  deps: RoutingDeps,
  { model, request, looking, chosen }: Choice,
  { route, index, lane }: Pick<ChosenRoute, "route" | "index" | "lane">,
): ConsideredWay["verdict"] {
  const wanted = request.routing?.route;
  if (lane === chosen.lane && index === chosen.index) return "chosen";
  if (!isWanted(wanted, route) || lane !== (wanted?.account ?? lane)) return "not_asked_for";
  if (!canTake(route, request)) return "cannot";
  const { state, waitMs, tries } = outlookOf(deps, route, lane, looking);
  if (waitMs > 0 && state !== "closed") return state;
  if (tries > chosen.tries || hasFailed(looking, route, lane)) return "tried";
  return isDearer(model, route) ? "held_back" : "standby";
}

/** A way as an attempt there has it. */
function triedOf({ lane, route: { upstreamModel } }: ChosenRoute) {
  return { lane, upstreamModel };
}

function policyOf(model: Model, { routing }: GenerationRequest): RoutePolicy {
  return routing?.policy ?? model.routePolicy ?? "ordered";
}

function outlookOf(
  { standing, pace, loads }: RoutingDeps,
  route: Route,
  lane: LaneId,
  looking: Looking,
): Pick<ChosenRoute, "waitMs" | "state" | "tries"> {
  const tries = triesOf(looking, route, lane);
  const way = { lane, upstreamModel: route.upstreamModel };
  // A task that waits there has its turn when it asks.
  const heldMs = pace.heldMs(lane, looking.current?.lane === lane ? 0 : loads.queued(lane));
  const { state } = standing.of(way);
  if (state === "closed") return { tries, waitMs: heldMs, state: heldMs > 0 ? "paused" : state };
  return { tries, waitMs: Math.max(heldMs, standing.waitMs(way)), state };
}

/** What is known of a route at an account, its pause included. */
export function standingOf(
  { standing, pace, clock }: Pick<RoutingDeps, "standing" | "pace" | "clock">,
  { upstreamModel }: Pick<Route, "upstreamModel">,
  lane: LaneId,
): Standing {
  const known = standing.of({ lane, upstreamModel });
  const pausedMs = pace.pausedMs(lane);
  return known.state === "closed" && pausedMs > 0
    ? { state: "paused", until: clock.now() + pausedMs }
    : known;
}

function triesOf({ attempts }: Looking, { upstreamModel }: Route, lane: LaneId): number {
  if (attempts === undefined) return 0;
  return attempts.filter((each) => each.lane === lane && each.upstreamModel === upstreamModel).length;
}

/** Whether a job of the task failed there. Each way gets one, so that a task that no way can do ends. */
function hasFailed({ attempts }: Looking, { upstreamModel }: Route, lane: LaneId): boolean {
  if (attempts === undefined) return false;
  return attempts.some(
    (each) => each.state === "done" && each.lane === lane && each.upstreamModel === upstreamModel,
  );
}

interface Ranked {
  readonly way: ChosenRoute;
  readonly rank: number;
  readonly hasRoom: boolean;
}

function bestAmong(
  ways: Iterable<ChosenRoute>,
  looking: Looking,
  by: { ranks(way: ChosenRoute): number; hasRoom(way: ChosenRoute): boolean },
): ChosenRoute | undefined {
  let best: Ranked | undefined;
  for (const way of ways) {
    const one = { way, rank: by.ranks(way), hasRoom: by.hasRoom(way) };
    if (best === undefined || isBetter(one, best, looking)) best = one;
  }
  return best?.way;
}

/**
 * First a way that can be taken now, then one that opens by itself, then one that was tried less often. A task stays where it is as well
 * off. Then one with room, then by the policy.
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

/** The accounts of a provider; `inTurn` begins with another one each time, so that tasks of one moment do not all go to the first. */
function createGrouping(deps: Pick<RoutingDeps, "adapters">) {
  let known: readonly ProviderAdapter[] = [];
  let grouped = new Map<ProviderId, readonly ProviderAdapter[]>();
  let turn = 0;
  const ofProvider = (provider: ProviderId): readonly ProviderAdapter[] => {
    const adapters = deps.adapters();
    if (adapters !== known) grouped = Map.groupBy(adapters, ({ id }) => id);
    known = adapters;
    return grouped.get(provider) ?? [];
  };
  return {
    provider: ofProvider,
    inTurn(provider: ProviderId): readonly ProviderAdapter[] {
      const accounts = ofProvider(provider);
      if (accounts.length < 2) return accounts;
      const start = turn++ % accounts.length;
      return [...accounts.slice(start), ...accounts.slice(0, start)];
    },
  };
}

import type { AccountId, LaneId, ProviderId } from "../../domain/ids.ts";
import { canTake } from "../../domain/model/eligibility.ts";
import type { Model, Route } from "../../domain/model/model.ts";
import { CLOSED, type Standing } from "../../domain/model/standing.ts";
import type { ProviderAdapter } from "../../domain/ports/provider.ts";
import type { Looking, Routing } from "../../domain/ports/routing.ts";
import type { Clock, Random } from "../../domain/ports/runtime.ts";
import type { GenerationRequest } from "../../domain/task/request.ts";
import { type ChosenRoute, type ConsideredWay, isWanted, type Way } from "../../domain/task/routing.ts";
import { bestAmong, type Choosing } from "./best.ts";
import type { Loads } from "./loads.ts";
import { isDearer, type Overflow } from "./overflow.ts";
import type { Pace } from "./pace.ts";
import type { Ranking } from "./policies.ts";
import type { RouteStanding, Sender } from "./standing.ts";

export interface RoutingDeps extends Ranking {
  /** The accounts that are switched on. Each call may return another list; a list never changes. */
  readonly adapters: () => readonly ProviderAdapter[];
  readonly standing: Pick<RouteStanding, "isClear" | "of" | "waitMs">;
  readonly pace: Pick<Pace, "pausedMs" | "heldMs">;
  readonly loads: Loads;
  readonly overflow: Overflow;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

/** Nothing is in the way, and nothing is known about the task. */
const NOTHING: Looking = {};
const UNHINDERED = { waitMs: 0, tries: 0, state: "closed" } as const;

export function createRouting(deps: RoutingDeps): Routing {
  const accountsOf = createGrouping(deps);

  /** The ways of a route that its task may take, whatever their standing. */
  function waysOf(
    route: Route,
    index: number,
    { routing }: GenerationRequest,
    looking: Looking,
  ): ChosenRoute[] {
    return accountsOf.inTurn(route.provider).flatMap((account) => {
      const { lane } = account;
      const isMeant = lane === (route.account ?? lane) && lane === (routing?.route?.account ?? lane);
      if (!isMeant || hasFailed(looking, route, lane)) return [];
      const { waitMs, tries, state } = outlookOf(deps, route, lane, looking);
      return { route, index, lane, waitMs, tries, state, setup: account.setupOf?.(route) };
    });
  }

  function waysTo({ model, request, looking }: Choosing, isMeant: (route: Route) => boolean): ChosenRoute[] {
    return model.routes.flatMap((route, index) => {
      const canGo = isMeant(route) && isWanted(request.routing?.route, route) && canTake(route, request);
      return canGo ? waysOf(route, index, request, looking) : [];
    });
  }

  function bestOf(model: Model, request: GenerationRequest, looking = NOTHING): ChosenRoute | undefined {
    const choosing = { model, request, looking };
    const only = onlyWay(deps, accountsOf.provider, choosing);
    if (only !== undefined) return only;
    const among = (is: (route: Route) => boolean) => bestAmong(waysTo(choosing, is), deps, choosing);
    const { overflow: terms } = model;
    // Who names a route has it.
    if (terms === undefined || request.routing?.route !== undefined) return among(() => true);
    const [usual, dearer] = [false, true].map((is) => among((route) => isDearer(model, route) === is));
    return deps.overflow.choose({ ...choosing, terms }, usual, dearer);
  }

  return {
    has: (provider: ProviderId) => accountsOf.provider(provider).length > 0,
    choose(model, request, looking) {
      const best = bestOf(model, request, looking);
      const { overflow: terms } = model;
      if (best && terms) deps.overflow.spend({ model, terms, request, looking: looking ?? NOTHING }, best);
      // An existing task is already counted where it waits.
      if (best !== undefined && isNew(looking)) deps.loads.assigned(best.lane);
      return best;
    },
    closedMs: (model, caller) => closedMs(deps, model, caller, accountsOf.provider),
    giveBack: (model, way) => giveBack(deps, model, way),
    verdicts: (model, request, looking, chosen) =>
      verdictsOf(deps, { model, request, looking, chosen, accountsOf: accountsOf.provider }),
    consider: (model, request, newOf) =>
      considered(deps, model, request, {
        caller: newOf,
        bestOf: (looking) => bestOf(model, request, { ...looking, newOf }),
        waysOf: (route, index) => waysOf(route, index, request, { newOf }),
      }),
  };
}

function isNew(looking: Looking | undefined): boolean {
  return looking === undefined || looking.newOf !== undefined;
}

function giveBack({ loads, overflow }: RoutingDeps, model: Model, way: ChosenRoute): void {
  loads.unassigned(way.lane);
  overflow.giveBack(model, way);
}

/** The usual case, which every create and every first attempt checks: one route, one account, and no known problem. */
function onlyWay(
  deps: RoutingDeps,
  accountsOf: (provider: ProviderId) => readonly ProviderAdapter[],
  { model, request, looking }: Choosing,
): ChosenRoute | undefined {
  const [route, second] = model.routes;
  if (route === undefined || second !== undefined || route.account !== undefined) return undefined;
  if (looking.attempts !== undefined && looking.attempts.length > 0) return undefined;
  const [account, other] = accountsOf(route.provider);
  const isOnly = account !== undefined && other === undefined && request.routing === undefined;
  if (!isOnly || !deps.standing.isClear() || !canTake(route, request)) return undefined;
  const { lane } = account;
  // A new task may wait for the account's pace; one whose turn it is must not be sent before.
  const outlook = looking.current === undefined ? UNHINDERED : outlookOf(deps, route, lane, looking);
  return { route, index: 0, lane, ...outlook, setup: account.setupOf?.(route) };
}

function considered(
  deps: RoutingDeps,
  model: Model,
  request: GenerationRequest,
  found: {
    readonly caller: AccountId | undefined;
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
      ...{ route, index, lane, isAble, ...considering(deps, route, lane, found.caller) },
      isChosen: chosen?.index === index && chosen.lane === lane,
      isNext: next?.index === index && next.lane === lane,
    }));
  });
}

/** The standing of a way for a caller, and what keeps others away there alone. */
function considering(
  deps: RoutingDeps,
  route: Route,
  lane: LaneId,
  caller: AccountId | undefined,
): Pick<Way, "standing" | "ofOthers"> {
  const [standing, known] = [
    standingOf(deps, route, lane, { accountId: caller }),
    standingOf(deps, route, lane),
  ];
  return standing.state === "closed" ? { standing, ofOthers: known.detail } : { standing };
}

interface Choice {
  readonly model: Model;
  readonly request: GenerationRequest;
  readonly looking: Looking;
  readonly chosen: ChosenRoute;
  accountsOf(provider: ProviderId): readonly ProviderAdapter[];
}

/** Most tasks have one way, and then there is nothing to report. */
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

/** A way in the form that an attempt stores. */
function triedOf({ lane, route: { upstreamModel } }: ChosenRoute) {
  return { lane, upstreamModel };
}

function outlookOf(
  { standing, pace, loads }: RoutingDeps,
  route: Route,
  lane: LaneId,
  looking: Looking,
): Pick<ChosenRoute, "waitMs" | "state" | "tries"> {
  const tries = triesOf(looking, route, lane);
  const way = { lane, upstreamModel: route.upstreamModel };
  // A task that waits there gets its turn when it asks.
  const { current } = looking;
  const heldMs = pace.heldMs(way, current?.lane === lane ? 0 : loads.queued(lane), current?.id);
  const sender = senderOf(looking, tries > 0);
  const { state } = standing.of(way, sender);
  if (state === "closed") return { tries, waitMs: heldMs, state: heldMs > 0 ? "paused" : state };
  return { tries, waitMs: Math.max(heldMs, standing.waitMs(way, sender)), state };
}

/** Neither the request nor its limits to some ways are considered, so that it holds for all of the model's tasks. */
function closedMs(
  { standing, pace }: RoutingDeps,
  { routes }: Model,
  accountId: AccountId,
  accountsOf: (provider: ProviderId) => readonly ProviderAdapter[],
): number {
  const waits = routes.flatMap(({ provider, upstreamModel }) =>
    accountsOf(provider).map(({ lane }) => {
      const way = { lane, upstreamModel };
      return Math.max(pace.heldMs(way, 0), standing.waitMs(way, { accountId }));
    }),
  );
  return waits.length === 0 ? 0 : Math.min(...waits);
}

function senderOf({ current, newOf }: Looking, hasTried: boolean): Sender {
  if (current === undefined) return { accountId: newOf };
  return { taskId: current.id, accountId: current.accountId, hasTried };
}

/** The standing of a route at an account, including its pause. @param sender as for `RouteStanding.of` */
export function standingOf(
  { standing, pace, clock }: Pick<RoutingDeps, "standing" | "pace" | "clock">,
  { upstreamModel }: Pick<Route, "upstreamModel">,
  lane: LaneId,
  sender?: Sender,
): Standing {
  const known = standing.of({ lane, upstreamModel }, sender);
  const pausedMs = pace.pausedMs({ lane, upstreamModel });
  return known.state === "closed" && pausedMs > 0
    ? { state: "paused", until: clock.now() + pausedMs }
    : known;
}

function triesOf({ attempts }: Looking, { upstreamModel }: Route, lane: LaneId): number {
  if (attempts === undefined) return 0;
  return attempts.filter((each) => each.lane === lane && each.upstreamModel === upstreamModel).length;
}

/** Whether a job of the task failed there. Each way gets only one, so that a task that no way can do ends. */
function hasFailed({ attempts }: Looking, { upstreamModel }: Route, lane: LaneId): boolean {
  if (attempts === undefined) return false;
  return attempts.some(
    (each) => each.state === "done" && each.lane === lane && each.upstreamModel === upstreamModel,
  );
}

/**
 * The accounts of a provider. `inTurn` begins with a different one each time, so that simultaneous tasks do not all go to the
 * first.
 */
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

import type { Act, Actor } from "../domain/access/actor.ts";
import { DAY_MS, dayOf } from "../domain/day.ts";
import { AppError } from "../domain/errors.ts";
import type { LaneId, ModelId, ProviderId } from "../domain/ids.ts";
import { accountNameOf, DEFAULT_ACCOUNT, laneOf } from "../domain/lane.ts";
import type { Model } from "../domain/model/model.ts";
import type { Standing } from "../domain/model/standing.ts";
import { type Micros, toMicros } from "../domain/money/money.ts";
import type {
  ManagedRoutes,
  ManagedWay,
  RouteAccount,
  RouteFigures,
  RouteTarget,
} from "../domain/ports/managed-routes.ts";
import { isWithin, type RouteOfLane, WHOLE_ACCOUNT } from "../domain/ports/route-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Counts } from "../domain/ports/tally.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { RouteSpend, UsageStore } from "../domain/ports/usage-store.ts";
import { suggest } from "../domain/suggest.ts";
import { actNow } from "./management.ts";

export interface ManageRoutesDeps {
  /** Who acts. */
  readonly actor: Actor;
  readonly models: () => Promise<readonly Model[]>;
  /** Every provider, switched on or not. */
  readonly providers: () => Promise<readonly ProviderId[]>;
  readonly accounts: () => Promise<readonly RouteAccount[]>;
  /** What is known about every route at this moment. */
  readonly standings: () => Promise<(route: RouteOfLane) => Standing>;
  readonly loads: TaskStore["lanes"];
  readonly spentSince: UsageStore["spentSince"];
  readonly clock: Pick<Clock, "now">;
  /** Absent if no server runs. */
  readonly figures?: ((route: RouteOfLane) => RouteFigures) | undefined;
  readonly counts?: Pick<Counts, "hourOf"> | undefined;
  readonly block: (route: RouteOfLane, detail: string, act: Act) => Promise<void>;
  readonly allow: (route: RouteOfLane, act: Act) => Promise<void>;
}

const NO_REASON = "by hand";
const NOTHING = toMicros(0);

/** Shows operators the ways that tasks can take, and blocks or allows them. */
export function createManageRoutes(deps: ManageRoutesDeps): ManagedRoutes {
  async function change(
    target: RouteTarget,
    act: (route: RouteOfLane) => Promise<void>,
  ): Promise<readonly ManagedWay[]> {
    const routes = await findRoutes(deps, target);
    await Promise.all(routes.map(act));
    return (await listWays(deps)).filter((way) => routes.some((route) => isWithin(way, route)));
  }
  return {
    list: () => listWays(deps),
    block: (target, reason = NO_REASON) => change(target, (route) => deps.block(route, reason, actNow(deps))),
    allow: (target) => change(target, (route) => deps.allow(route, actNow(deps))),
  };
}

async function listWays(deps: ManageRoutesDeps): Promise<ManagedWay[]> {
  const [models, accounts, standingOf, loads, spends] = await Promise.all([
    ...([deps.models(), deps.accounts(), deps.standings(), deps.loads()] as const),
    deps.spentSince(dayOf(deps.clock.now()) * DAY_MS),
  ]);
  return accounts
    .toSorted((a, b) => (a.lane < b.lane ? -1 : 1))
    .flatMap((account): ManagedWay[] => {
      const { lane } = account;
      const underWay = loads.find((load) => load.lane === lane)?.underWay ?? 0;
      return [...routesAt(models, account)].map(([upstreamModel, ids]) => ({
        ...{ ...account, upstreamModel, models: ids, underWay },
        standing: standingOf({ lane, upstreamModel }),
        ...deps.figures?.({ lane, upstreamModel }),
        ended: endedOf(deps, lane, ids),
        spentToday: spentAt(spends, { lane, upstreamModel }),
      }));
    });
}

function spentAt(spends: readonly RouteSpend[], { lane, upstreamModel }: RouteOfLane): Micros {
  const spend = spends.find((each) => each.lane === lane && each.upstreamModel === upstreamModel);
  return spend?.cost ?? NOTHING;
}

/** An account's names for models, each with the models that have a route to it. */
function routesAt(
  models: readonly Model[],
  { provider, lane }: RouteAccount,
): ReadonlyMap<string, readonly ModelId[]> {
  const found = new Map<string, ModelId[]>();
  for (const { id, routes } of models) {
    for (const route of routes) {
      if (route.provider !== provider || (route.account ?? lane) !== lane) continue;
      const ids = found.getOrInsertComputed(route.upstreamModel, () => []);
      if (!ids.includes(id)) ids.push(id);
    }
  }
  return found;
}

function endedOf(
  { counts }: ManageRoutesDeps,
  lane: LaneId,
  models: readonly ModelId[],
): ManagedWay["ended"] {
  if (counts === undefined) return undefined;
  const all = models.map((model) => counts.hourOf(lane, model));
  return {
    completed: all.reduce((sum, { completed }) => sum + completed, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
  };
}

/** @throws AppError `not_found` */
async function findRoutes(
  deps: ManageRoutesDeps,
  { provider: given, account, upstreamModel = WHOLE_ACCOUNT }: RouteTarget,
): Promise<RouteOfLane[]> {
  const providers = await deps.providers();
  const provider = providers.find((id) => id === given) ?? unknown("provider", given, providers);
  const lanes = (await deps.accounts()).filter((each) => each.provider === provider).map(({ lane }) => lane);
  // If its keys are not available here, its customary account is meant, because a server may have them.
  const usual = lanes.length === 0 ? [laneOf(provider, account ?? DEFAULT_ACCOUNT)] : lanes;
  const meant = usual.filter((lane) => account === undefined || accountNameOf(lane) === account);
  if (meant.length === 0) unknown("account", account ?? "", usual.map(accountNameOf));
  if (upstreamModel !== WHOLE_ACCOUNT) {
    const routes = (await deps.models()).flatMap((model) => model.routes);
    const known = routes.flatMap((route) => (route.provider === provider ? route.upstreamModel : []));
    if (!known.includes(upstreamModel)) unknown("model", upstreamModel, known);
  }
  return meant.map((lane) => ({ lane, upstreamModel }));
}

function unknown(what: "provider" | "account" | "model", given: string, known: readonly string[]): never {
  throw new AppError("not_found", { kind: "unknown", what, given, near: suggest(given, known) });
}

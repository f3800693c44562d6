import type { LaneId } from "../../domain/ids.ts";
import type { RouteFigures } from "../../domain/ports/managed-routes.ts";
import type { ProviderAdapter, Rates } from "../../domain/ports/provider.ts";
import type { RouteOfLane, RouteStore } from "../../domain/ports/route-store.ts";
import type { Clock, Log, Random } from "../../domain/ports/runtime.ts";
import { createAbsences } from "./absences.ts";
import { createCrowds } from "./crowds.ts";
import { createDurations } from "./durations.ts";
import { createLoads } from "./loads.ts";
import { createOpenings } from "./openings.ts";
import { createOverflow } from "./overflow.ts";
import { createPace } from "./pace.ts";
import { createRetests } from "./retests.ts";
import { createRouting, standingOf } from "./routing.ts";
import { RouteStandings } from "./standing.ts";
import { createTakeovers } from "./takeovers.ts";

/** The share of a limit that one of several nodes may use. */
function shareOf(rates: Rates | undefined, nodes: number): Rates | undefined {
  if (rates === undefined || nodes === 1) return rates;
  const share = (perMinute: number | undefined) => perMinute && perMinute / nodes;
  return {
    submissionsPerMinute: share(rates.submissionsPerMinute),
    pollsPerMinute: share(rates.pollsPerMinute),
  };
}

/** Everything that is known about the ways that tasks can take, and the logic that chooses among them. */
export function createWays(deps: {
  /** The accounts that are switched on. Each call may return another list; a list never changes. */
  readonly adapters: () => readonly ProviderAdapter[];
  readonly routes: RouteStore;
  /** Whether the account no longer exists, though its provider has others. By default every account exists. */
  readonly isGone?: (lane: LaneId) => boolean;
  /** How many nodes use the accounts, each with its share; one unless given. */
  readonly workers?: (() => number) | undefined;
  readonly clock: Pick<Clock, "now" | "elapsed" | "after">;
  readonly log: Log;
  readonly random: Random;
}) {
  const { clock, random } = deps;
  const adapterOf = createLookup(deps.adapters);
  const pace = createPace({ clock, rates: (lane) => shareOf(adapterOf(lane)?.rates, deps.workers?.() ?? 1) });
  const loads = createLoads((lane) => adapterOf(lane)?.concurrency);
  const durations = createDurations({ clock });
  const retests = createRetests({
    ...{ clock, adapterOf },
    isRefused: (lane) => standing.isKeyRefused(lane),
    onProved: (lane) => void standing.proved(lane).catch(toldAlready),
    onRefused: (lane, detail) => standing.confirmed(lane, detail),
  });
  const openings = createOpenings();
  const standing = new RouteStandings({
    ...deps,
    onEnd: openings.told,
    canTest: (lane) => adapterOf(lane)?.test !== undefined,
    onKeyRefused: retests.refused,
  });
  const routing = createRouting({
    ...{ pace, loads, durations, standing, clock, random },
    overflow: createOverflow({ clock, loads, durations }),
    adapters: deps.adapters,
  });
  const following = createFollowing(clock, () => standing.look());
  return {
    ...{ pace, loads, durations, standing, routing, openings },
    /** What is known about a route at this moment. */
    standingNow: (route: RouteOfLane) => standingOf({ standing, pace, clock }, route, route.lane),
    /** The measured figures of a route. */
    figuresOf: ({ lane, upstreamModel }: RouteOfLane): RouteFigures => ({
      perMinute: pace.perMinute({ lane, upstreamModel }),
      p50Ms: durations.quantile(lane, upstreamModel, 0.5),
      p95Ms: durations.quantile(lane, upstreamModel, 0.95),
    }),
    takeovers: createTakeovers({ clock }),
    absences: createAbsences(deps),
    crowds: createCrowds(),
    /** Reads what an earlier process knew, and follows changes by others. */
    async startWays() {
      retests.start(await standing.start());
      following.start();
    },
    stopWays() {
      following.stop();
      retests.stop();
    },
  };
}

/** A failure to store is logged where it happens. */
const toldAlready = (): void => {};

/** How soon a running server notices that a command on its data folder blocks or allows a route. */
const LOOKS_EVERY_MS = 1_000;

/** Looks again and again. */
function createFollowing({ after }: Pick<Clock, "after">, look: () => Promise<void>) {
  let cancel = () => {};
  let isStopped = false;
  function later(): void {
    if (isStopped) return;
    // A store that cannot be read reports this itself, and may be readable the next time.
    const again = () => void look().then(later, later);
    cancel = after(LOOKS_EVERY_MS, again);
  }
  return {
    start: later,
    stop() {
      isStopped = true;
      cancel();
    },
  };
}

/** Finds an adapter by its lane. */
function createLookup(adapters: () => readonly ProviderAdapter[]) {
  let known: readonly ProviderAdapter[] | undefined;
  let byLane: ReadonlyMap<LaneId, ProviderAdapter> = new Map();
  return (lane: LaneId): ProviderAdapter | undefined => {
    const now = adapters();
    if (now !== known) byLane = new Map(now.map((adapter) => [adapter.lane, adapter]));
    known = now;
    return byLane.get(lane);
  };
}

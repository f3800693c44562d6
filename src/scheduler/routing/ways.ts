import type { LaneId } from "../../domain/ids.ts";
import type { ProviderAdapter } from "../../domain/ports/provider.ts";
import { type RouteStore, WHOLE_ACCOUNT } from "../../domain/ports/route-store.ts";
import type { Clock, Log, Random } from "../../domain/ports/runtime.ts";
import { createDurations } from "./durations.ts";
import { createLoads } from "./loads.ts";
import { createPace } from "./pace.ts";
import { createRetests } from "./retests.ts";
import { createRouting } from "./routing.ts";
import { RouteStandings } from "./standing.ts";

/** Everything that is known of the ways that tasks can take, and what chooses among them. */
export type Ways = ReturnType<typeof createWays>;

export function createWays(deps: {
  /** The accounts that are switched on. May be another list each time; each list stays as it is. */
  readonly adapters: () => readonly ProviderAdapter[];
  readonly routes: RouteStore;
  readonly clock: Pick<Clock, "now" | "elapsed" | "after">;
  readonly log: Log;
  readonly random: Random;
}) {
  const { clock, random } = deps;
  const adapterOf = createLookup(deps.adapters);
  const pace = createPace({ clock, rates: (lane) => adapterOf(lane)?.rates });
  const loads = createLoads((lane) => adapterOf(lane)?.concurrency);
  const durations = createDurations({ clock });
  const retests = createRetests({
    ...{ clock, adapterOf },
    isRefused: (lane) => standing.isKeyRefused(lane),
    onProved: (lane) => standing.allow({ lane, upstreamModel: WHOLE_ACCOUNT }),
  });
  const standing = new RouteStandings({
    ...deps,
    canTest: (lane) => adapterOf(lane)?.test !== undefined,
    onKeyRefused: retests.refused,
  });
  const routing = createRouting({
    ...{ pace, loads, durations, standing, clock, random },
    adapters: deps.adapters,
  });
  return {
    ...{ pace, loads, durations, standing, routing },
    /** Reads what an earlier process knew. */
    startWays: async () => retests.start(await standing.start()),
    stopWays: retests.stop,
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

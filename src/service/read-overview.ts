import type { DiskSpace, OpenStays, Overview, ProviderOverview, Vitals } from "../domain/overview.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import type { LaneCapacity } from "../domain/ports/claims.ts";
import { type RouteStore, type RouteTrouble, WHOLE_ACCOUNT } from "../domain/ports/route-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Counts } from "../domain/ports/tally.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";

/** How long everybody gets the same reading, so that many watchers cost as much as one. */
const SHARED_MS = 1_000;

export interface OverviewDeps {
  readonly clock: Pick<Clock, "now" | "elapsed">;
  readonly tasks: Pick<TaskStore, "lanes">;
  readonly callbacks: Pick<CallbackStore, "owed">;
  readonly routes: Pick<RouteStore, "troubles">;
  readonly counts: Pick<Counts, "minute" | "hour">;
  readonly vitals: () => Vitals;
  readonly disk: () => DiskSpace;
  readonly stays: () => OpenStays;
  /** Why new tasks are refused; undefined while they are accepted. */
  readonly notReady: () => string | undefined;
  /** The lanes of the providers that are switched on. */
  readonly lanes: readonly LaneCapacity[];
  readonly capacity: number;
}

/** Reads the service's present state, at most a second old. @throws StorageError when the store cannot be read */
export type ReadOverview = () => Promise<Overview>;

export function createReadOverview(deps: OverviewDeps): ReadOverview {
  let shared: { readonly until: number; readonly overview: Promise<Overview> } | undefined;
  return () => {
    const now = deps.clock.elapsed();
    if (shared !== undefined && now < shared.until) return shared.overview;
    const overview = read(deps);
    shared = { until: now + SHARED_MS, overview };
    // The failed reading is dropped, so the next caller tries again.
    overview.catch(() => {
      shared = undefined;
    });
    return overview;
  };
}

async function read(deps: OverviewDeps): Promise<Overview> {
  const [loads, callbacks, troubles] = await Promise.all([
    deps.tasks.lanes(),
    deps.callbacks.owed(),
    deps.routes.troubles(),
  ]);
  const hour = deps.counts.hour();
  const idle = deps.lanes.filter(({ lane }) => loads.every((load) => load.lane !== lane));
  const lanes = [...loads, ...idle.map(({ lane }) => ({ lane, queued: 0, underWay: 0 }))];
  const limits = new Map(deps.lanes.map(({ lane, capacity }) => [lane, capacity]));
  return {
    at: deps.clock.now(),
    notReady: deps.notReady(),
    minute: deps.counts.minute(),
    lanes: lanes
      .map((load) => ({ ...load, limit: limits.get(load.lane) }))
      .sort((a, b) => (a.lane < b.lane ? -1 : 1)),
    capacity: deps.capacity,
    hour,
    providers: providersOf(deps, hour.providers, troubles),
    callbacks,
    vitals: deps.vitals(),
    disk: deps.disk(),
    stays: { ...deps.stays() },
  };
}

/** Replaces an upstream's model in a refusal of the account as a whole. */
const EVERYTHING = "*";

/** Every account that is switched on, or has ended tasks. */
function providersOf(
  { lanes }: OverviewDeps,
  endings: ReturnType<Counts["hour"]>["providers"],
  troubles: readonly RouteTrouble[],
): ProviderOverview[] {
  const ids = new Set([...lanes.map(({ lane }) => lane), ...endings.map(({ provider }) => provider)]);
  return [...ids].sort().map((provider) => {
    const { completed = 0, failed = 0 } = endings.find((each) => each.provider === provider) ?? {};
    const refused = troubles.filter((each) => each.lane === provider && isForOperator(each));
    const models = refused.map(({ upstreamModel }) =>
      upstreamModel === WHOLE_ACCOUNT ? EVERYTHING : upstreamModel,
    );
    return { provider, completed, failed, refused: models };
  });
}

/** Whether only an operator can fix it. */
function isForOperator({ kind }: RouteTrouble): boolean {
  return kind === "refused" || kind === "spent";
}

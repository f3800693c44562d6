import type { ReadBackupState } from "../domain/backup-state.ts";
import type { CountedName, Figures, Sample } from "../domain/metrics.ts";
import type { DiskSpace, OpenStays, ProcessFigures, Vitals } from "../domain/overview.ts";
import type { LaneCapacity } from "../domain/ports/claims.ts";
import { type RouteStore, type RouteTrouble, WHOLE_ACCOUNT } from "../domain/ports/route-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import type { CountedStock } from "./latest-stock.ts";

export interface MetricsDeps {
  readonly clock: Pick<Clock, "now">;
  readonly counted: () => Readonly<Record<CountedName, readonly Sample[]>>;
  readonly latestStock: () => Promise<CountedStock | undefined>;
  readonly routes: Pick<RouteStore, "troubles">;
  readonly vitals: () => Vitals;
  readonly process: () => Promise<ProcessFigures>;
  readonly disk: () => DiskSpace;
  readonly stays: () => OpenStays;
  readonly backups: ReadBackupState;
  /** The state of the database copy that answers lists and reports; undefined if there is no copy. */
  readonly replica?: { lagMs(): number | undefined; isUsed(): boolean } | undefined;
  /** Why new tasks are refused; undefined while they are accepted. */
  readonly notReady: () => string | undefined;
  /** The lanes of the providers that are switched on. */
  readonly lanes: readonly LaneCapacity[];
  readonly build: { readonly version: string; readonly bun: string };
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** Reads the present value of every metric. While the store cannot be read, what it alone knows is as it was last read. */
export type ReadMetrics = () => Promise<Figures>;

const MICROS_PER_USD = 1_000_000;

export function createReadMetrics(deps: MetricsDeps): ReadMetrics {
  const readTroubles = latestTroubles(deps.routes);
  return async () => {
    const [latest, troubles, own] = await Promise.all([deps.latestStock(), readTroubles(), deps.process()]);
    const [vitals, disk, stays] = [deps.vitals(), deps.disk(), deps.stays()];
    const on = new Set(deps.lanes.map(({ lane }) => lane));
    const present = troubles.filter(({ lane, servesOthers }) => on.has(lane) && servesOthers !== true);
    return {
      ...deps.counted(),
      ...stored(deps, latest),
      svc_build_info: one(1, deps.build),
      svc_ready: one(deps.notReady() === undefined ? 1 : 0),
      svc_open_connections: [
        ...one(stays.waits, { kind: "waits" }),
        ...one(stays.streams, { kind: "streams" }),
      ],
      svc_lane_limit_tasks: deps.lanes.flatMap(({ lane, capacity }) => one(capacity, { lane })),
      svc_route_trouble: present.flatMap(({ lane, upstreamModel, kind }) =>
        one(1, { lane, upstream_model: upstreamModel === WHOLE_ACCOUNT ? "*" : upstreamModel, kind }),
      ),
      svc_database_bytes: one(disk.databaseBytes),
      svc_wal_bytes: one(disk.walBytes),
      ...copied(deps),
      ...backedUp(deps),
      svc_disk_free_bytes: one(disk.freeBytes),
      svc_heap_bytes: one(vitals.heapBytes),
      process_resident_memory_bytes: one(vitals.rssBytes),
      process_cpu_seconds_total: one(own.cpuSeconds),
      process_start_time_seconds: one(deps.startedAt / 1_000),
      process_open_fds: one(own.openFiles),
      process_max_fds: one(own.mostFiles),
    };
  };
}

function latestTroubles(routes: MetricsDeps["routes"]) {
  let latest: readonly RouteTrouble[] = [];
  return async () => {
    try {
      latest = await routes.troubles();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
    return latest;
  };
}

function copied({ replica }: MetricsDeps) {
  const lagMs = replica?.lagMs();
  return {
    svc_database_replica_lag_seconds: one(lagMs && lagMs / 1_000),
    svc_database_replica_used: one(replica && Number(replica.isUsed())),
  };
}

function backedUp({ clock, backups }: MetricsDeps) {
  const state = backups();
  const age = state?.lastAt === undefined ? undefined : Math.max(0, clock.now() - state.lastAt) / 1_000;
  return {
    svc_backup_age_seconds: one(age),
    svc_backup_failing: one(state && (state.failing === undefined ? 0 : 1)),
  };
}

/** Figures that are counted in the database. Absent until the first count. */
function stored({ clock, lanes }: MetricsDeps, latest: CountedStock | undefined) {
  const stock = latest?.stock;
  const now = clock.now();
  const secondsSince = (at: number | undefined) => (at === undefined ? 0 : Math.max(0, now - at) / 1_000);
  const loads = stock?.lanes ?? [];
  const isLoaded = new Set(loads.map(({ lane }) => lane));
  const idle = stock === undefined ? [] : lanes.filter(({ lane }) => !isLoaded.has(lane));
  const all = [...loads, ...idle.map(({ lane }) => ({ lane, queued: 0, underWay: 0, oldestAt: undefined }))];
  return {
    svc_tasks: (stock?.tasks ?? []).flatMap(({ model, status, count }) => one(count, { model, status })),
    svc_lane_queued_tasks: all.flatMap(({ lane, queued }) => one(queued, { lane })),
    svc_lane_oldest_queued_seconds: all.flatMap(({ lane, oldestAt }) =>
      one(secondsSince(oldestAt), { lane }),
    ),
    svc_lane_underway_tasks: all.flatMap(({ lane, underWay }) => one(underWay, { lane })),
    svc_held_usd: one(stock && stock.held / MICROS_PER_USD),
    svc_callbacks_owed: one(stock?.callbacks.count),
    svc_callbacks_oldest_seconds: one(stock && secondsSince(stock.callbacks.oldestAt)),
    svc_assets: (stock?.assets ?? []).flatMap(({ role, count }) => one(count, { role })),
    svc_asset_bytes: (stock?.assets ?? []).flatMap(({ role, bytes }) => one(bytes, { role })),
    svc_books_age_seconds: one(latest && latest.ageMs / 1_000),
  };
}

/** One sample; none if there is no value. */
function one(value: number | undefined, labels: Sample["labels"] = {}): Sample[] {
  return value === undefined ? [] : [{ labels, value }];
}

import type { JsonObject } from "../../../domain/json.ts";
import { CURRENCY, formatAmount } from "../../../domain/money/money.ts";
import {
  type Endings,
  type LaneOverview,
  type MinuteCounts,
  type ModelEndings,
  type Overview,
  STATUS_CLASSES,
} from "../../../domain/overview.ts";

/** The process that answers. */
export interface Identity {
  readonly version: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** The machine's name. */
  readonly node: string;
}

/** `data` of GET /admin/v1/overview. */
export function presentOverview(overview: Overview, { version, startedAt, node }: Identity): JsonObject {
  const { at, notReady, minute, lanes, hour, callbacks, vitals, disk, stays } = overview;
  const secondsSince = (epochMs: number | undefined) =>
    epochMs === undefined ? null : Math.max(0, Math.floor((at - epochMs) / 1000));
  const seconds = minute.lengthMs / 1000;
  return {
    server: { version, node, started_at: unix(startedAt), time: unix(at), not_ready: notReady ?? null },
    windows: {
      seconds: minute.seconds,
      minute_since: unix(at - minute.lengthMs),
      hour_since: unix(hour.since),
    },
    requests: presentRequests(minute),
    creates: {
      per_second: rate(minute.created / seconds),
      by_second: [...minute.createdBySecond],
    },
    tasks: {
      queued: lanes.reduce((sum, lane) => sum + lane.queued, 0),
      under_way: lanes.reduce((sum, lane) => sum + lane.underWay, 0),
      limit: overview.capacity,
    },
    lanes: lanes.map((lane) => presentLane(lane, secondsSince)),
    providers: overview.providers.map(({ provider, refused, ...endings }) => ({
      provider,
      ...presentEndings(endings),
      refused: [...refused],
    })),
    models: hour.models.map(presentModel),
    checks: hour.checks.map(({ p50Ms, ...counts }) => ({ ...counts, p50_ms: p50Ms ?? null })),
    callbacks: { owed: callbacks.count, oldest_seconds: secondsSince(callbacks.oldestAt) },
    spend: { hour: formatAmount(hour.charged), currency: CURRENCY },
    memory: { rss_bytes: vitals.rssBytes, heap_bytes: vitals.heapBytes },
    loop: { lag_p50_ms: rate(vitals.lagP50Ms), lag_max_ms: rate(vitals.lagMaxMs) },
    disk: { free_bytes: disk.freeBytes, data_bytes: disk.databaseBytes, wal_bytes: disk.walBytes },
    open: { waits: stays.waits, streams: stays.streams },
  };
}

function presentRequests({ lengthMs, answered, answeredBySecond }: MinuteCounts): JsonObject {
  const perSecond = (count: number) => rate((count * 1000) / lengthMs);
  const total = STATUS_CLASSES.reduce((sum, each) => sum + answered[each], 0);
  return {
    per_second: perSecond(total),
    by_class: Object.fromEntries(STATUS_CLASSES.map((each) => [each, perSecond(answered[each])])),
    by_second: [...answeredBySecond],
  };
}

function presentLane(
  { lane, queued, oldestAt, underWay, limit }: LaneOverview,
  secondsSince: (epochMs: number | undefined) => number | null,
): JsonObject {
  return {
    lane,
    queued,
    oldest_seconds: secondsSince(oldestAt),
    under_way: underWay,
    limit: limit ?? null,
  };
}

function presentModel({ model, p50Ms, p95Ms, ...endings }: ModelEndings): JsonObject {
  return { model, ...presentEndings(endings), p50_ms: p50Ms ?? null, p95_ms: p95Ms ?? null };
}

function presentEndings({ completed, failed }: Endings): JsonObject {
  const all = completed + failed;
  const share = all === 0 ? null : Math.floor((completed / all) * 10_000) / 10_000;
  return { completed, failed, success_rate: share };
}

const unix = (epochMs: number): number => Math.floor(epochMs / 1000);

/** With two decimals. */
function rate(value: number): number {
  return Number.isFinite(value) ? Math.round(value * 100) / 100 : 0;
}

import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { unexpectedAnswer } from "../failure.ts";
import { objectsOf, textOf } from "./lenient.ts";

/** How tasks of the last hour ended. */
interface Ended {
  readonly completed: number;
  readonly failed: number;
  /** 0-1; undefined where none ended. */
  readonly successRate: number | undefined;
}
export interface ModelRow extends Ended {
  readonly model: string;
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
}
export interface LaneRow {
  readonly lane: string;
  readonly queued: number;
  readonly oldestSec: number | undefined;
  readonly underWay: number;
  /** Undefined for a provider that is switched off. */
  readonly limit: number | undefined;
}
export interface ProviderRow extends Ended {
  readonly provider: string;
  readonly refused: readonly string[];
}
/** What a check of content said in the last hour. */
export interface CheckRow {
  readonly check: string;
  readonly allowed: number;
  readonly refused: number;
  readonly outages: number;
  readonly p50Ms: number | undefined;
}
interface Rate {
  readonly perSecond: number;
  /** Oldest first. */
  readonly bySecond: readonly number[];
}

/** The state of the service at one moment, as GET /admin/v1/overview reports it. */
export interface Reading {
  readonly version: string;
  readonly node: string;
  /** Unix seconds. */
  readonly startedAt: number;
  readonly time: number;
  readonly notReady: string | undefined;
  /** The number of the latest second in each `bySecond`, counted from the start. */
  readonly seconds: number;
  readonly requests: Rate & { readonly clientErrors: number; readonly serverErrors: number };
  readonly creates: Rate;
  readonly queued: number;
  readonly underWay: number;
  readonly limit: number;
  readonly lanes: readonly LaneRow[];
  readonly providers: readonly ProviderRow[];
  readonly models: readonly ModelRow[];
  readonly checks: readonly CheckRow[];
  readonly owed: number;
  readonly owedOldestSec: number | undefined;
  /** As the server writes it. */
  readonly spend: string;
  readonly currency: string;
  readonly rssBytes: number;
  readonly lagP50Ms: number;
  readonly lagMaxMs: number;
  readonly freeBytes: number;
  readonly dataBytes: number;
  readonly walBytes: number;
  readonly waits: number;
  readonly streams: number;
}

/**
 * Reads an overview; values that the server does not report are zero, empty or undefined.
 * @throws Failure for an answer that is no overview
 */
export function readingOf(data: JsonObject): Reading {
  if (!isJsonObject(data.server) || !isJsonObject(data.tasks))
    throw unexpectedAnswer("The server's answer is no overview: it is no svc, or one of another version.");
  const part = (name: string) => objectOf(data[name]);
  const { server, windows, requests, creates, tasks, callbacks, spend, memory, loop, disk, open } =
    Object.fromEntries(PARTS.map((name) => [name, part(name)])) as Record<(typeof PARTS)[number], JsonObject>;
  const classes = objectOf(requests.by_class);
  return {
    version: textOf(server.version),
    node: textOf(server.node),
    startedAt: numberOf(server.started_at),
    time: numberOf(server.time),
    notReady: textOf(server.not_ready) || undefined,
    seconds: numberOf(windows.seconds),
    requests: {
      ...rateOf(requests),
      clientErrors: numberOf(classes["4xx"]),
      serverErrors: numberOf(classes["5xx"]),
    },
    creates: rateOf(creates),
    queued: numberOf(tasks.queued),
    underWay: numberOf(tasks.under_way),
    limit: numberOf(tasks.limit),
    lanes: objectsOf(data.lanes).map(laneOf),
    providers: objectsOf(data.providers).map(providerOf),
    models: objectsOf(data.models).map(modelOf),
    checks: objectsOf(data.checks).map(checkOf),
    owed: numberOf(callbacks.owed),
    owedOldestSec: known(callbacks.oldest_seconds),
    spend: textOf(spend.hour),
    currency: textOf(spend.currency),
    rssBytes: numberOf(memory.rss_bytes),
    lagP50Ms: numberOf(loop.lag_p50_ms),
    lagMaxMs: numberOf(loop.lag_max_ms),
    freeBytes: numberOf(disk.free_bytes),
    dataBytes: numberOf(disk.data_bytes),
    walBytes: numberOf(disk.wal_bytes),
    waits: numberOf(open.waits),
    streams: numberOf(open.streams),
  };
}

const PARTS = [
  ...(["server", "windows", "requests", "creates", "tasks", "callbacks"] as const),
  ...(["spend", "memory", "loop", "disk", "open"] as const),
] as const;

function laneOf({ lane, queued, oldest_seconds, under_way, limit }: JsonObject): LaneRow {
  return {
    lane: textOf(lane),
    queued: numberOf(queued),
    oldestSec: known(oldest_seconds),
    underWay: numberOf(under_way),
    limit: known(limit),
  };
}

function providerOf({ provider, refused, ...ended }: JsonObject): ProviderRow {
  const models = Array.isArray(refused) ? refused.map(textOf) : [];
  return { provider: textOf(provider), refused: models, ...endedOf(ended) };
}

function modelOf({ model, p50_ms, p95_ms, ...ended }: JsonObject): ModelRow {
  return { model: textOf(model), p50Ms: known(p50_ms), p95Ms: known(p95_ms), ...endedOf(ended) };
}

function checkOf({ check, allowed, refused, outages, p50_ms }: JsonObject): CheckRow {
  const counts = { allowed: numberOf(allowed), refused: numberOf(refused), outages: numberOf(outages) };
  return { check: textOf(check), ...counts, p50Ms: known(p50_ms) };
}

function endedOf({ completed, failed, success_rate }: JsonObject): Ended {
  return { completed: numberOf(completed), failed: numberOf(failed), successRate: known(success_rate) };
}

function rateOf({ per_second, by_second }: JsonObject): Rate {
  const bySecond = Array.isArray(by_second) ? by_second.map(numberOf) : [];
  return { perSecond: numberOf(per_second), bySecond };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function known(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

const numberOf = (value: Json | undefined): number => known(value) ?? 0;

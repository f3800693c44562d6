import type { AttemptCounts, History, StageTimes } from "../../../domain/history.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { DEFAULT_MINUTES, HISTORY_QUERY, READ_HISTORY } from "./wire.ts";

export interface HistoryEndpointDeps {
  readonly readHistory: (minutes: number) => History;
  /** When the process started, in epoch milliseconds. */
  readonly startedAt: number;
}

/** GET /admin/v1/history: for operators who have no other system that stores metrics. */
export function historyEndpoints({ readHistory, startedAt }: HistoryEndpointDeps): Endpoint[] {
  const endpoint = managed("GET", "/admin/v1/history", READ_HISTORY, ({ query }) => {
    const { minutes = DEFAULT_MINUTES } = checkQuery(HISTORY_QUERY, query()) as { minutes?: number };
    return success(present(readHistory(minutes), startedAt));
  });
  return [{ ...endpoint, logLevel: "debug" }];
}

const unix = (epochMs: number): number => Math.floor(epochMs / 1000);

function present({ at, minutes, stages, routes }: History, startedAt: number): JsonObject {
  return {
    since: unix(startedAt),
    at: at.map(unix),
    minutes: Object.fromEntries(Object.entries(minutes).map(([name, values]) => [name, values.map(rounded)])),
    stages: stages.map(({ stage, hour, day }) => ({
      stage,
      hour: presentTimes(hour),
      day: presentTimes(day),
    })),
    routes: routes.map(({ lane, upstreamModel, hour, day }) => ({
      ...{ provider: lane, upstream_model: upstreamModel },
      ...{ hour: presentEnds(hour), day: presentEnds(day) },
    })),
  };
}

function presentTimes({ count, p50Ms, p95Ms }: StageTimes): JsonObject {
  return { count, p50_ms: p50Ms ?? null, p95_ms: p95Ms ?? null };
}

function presentEnds({ completed, failed }: AttemptCounts): JsonObject {
  const all = completed + failed;
  return { completed, failed, error_rate: all === 0 ? null : Math.ceil((failed / all) * 10_000) / 10_000 };
}

/** With two decimals. */
const rounded = (value: number): number => Math.round(value * 100) / 100;

import type { LaneId } from "./ids.ts";
import type { StatusClass } from "./overview.ts";
import type { Stage } from "./task/task.ts";

/** The figures that are kept for each minute. */
export const MINUTE_FIGURES = [
  ...["answered_2xx", "answered_3xx", "answered_4xx", "answered_5xx"],
  ...["created", "completed", "failed"],
  ...["queued", "under_way", "callbacks_owed"],
  ...["lag_p95_ms", "lag_max_ms", "rss_bytes"],
  ...["disk_free_bytes", "data_bytes", "wal_bytes"],
] as const satisfies readonly (`answered_${StatusClass}` | string)[];
export type MinuteFigure = (typeof MINUTE_FIGURES)[number];

/** What is measured at the end of each minute. */
export interface MinuteReading {
  readonly queued: number;
  readonly underWay: number;
  readonly callbacksOwed: number;
  readonly rssBytes: number;
  readonly freeBytes: number;
  readonly databaseBytes: number;
  readonly walBytes: number;
}

/** How long tasks stayed in a stage, for those that left it within a period. Accurate to 5 %; absent if none did. */
export interface StageTimes {
  readonly count: number;
  readonly p50Ms?: number | undefined;
  readonly p95Ms?: number | undefined;
}

/** Outcomes of attempts within a period. */
export interface AttemptCounts {
  readonly completed: number;
  /** Attempts that failed, were refused, or got no answer. */
  readonly failed: number;
}

/** The last hour, and the last day. */
export interface HourAndDay<Value> {
  readonly hour: Value;
  readonly day: Value;
}

export interface StageHistory extends HourAndDay<StageTimes> {
  readonly stage: Exclude<Stage, "terminal">;
}

export interface RouteHistory extends HourAndDay<AttemptCounts> {
  readonly lane: LaneId | "other";
  readonly upstreamModel: string;
}

/** How the service has done since its start, for one day at most. */
export interface History {
  /** The ends of whole minutes, oldest first, in epoch milliseconds. */
  readonly at: readonly number[];
  /** A number for each of them. */
  readonly minutes: Readonly<Record<MinuteFigure, readonly number[]>>;
  readonly stages: readonly StageHistory[];
  readonly routes: readonly RouteHistory[];
}

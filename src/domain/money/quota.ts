import { DAY_MS, dayOf, monthStartOf } from "../day.ts";
import type { Micros } from "./money.ts";

/** How often the counter of a quota restarts, in UTC; weeks begin on Monday. */
export const QUOTA_RESETS = ["total", "daily", "weekly", "monthly"] as const;
export type QuotaReset = (typeof QUOTA_RESETS)[number];

/** What a key may spend. */
export interface Quota {
  readonly limit: Micros;
  readonly reset: QuotaReset;
}

/** 1970-01-01 was a Thursday. */
const FIRST_MONDAY = 4;

/** The first day of the period that contains a moment, counted from 1970-01-01 UTC; 0 for a quota that never restarts. */
export function quotaPeriod(reset: QuotaReset, atMs: number): number {
  const day = dayOf(atMs);
  switch (reset) {
    case "total":
      return 0;
    case "daily":
      return day;
    case "weekly":
      return day - ((((day - FIRST_MONDAY) % 7) + 7) % 7);
    case "monthly":
      return monthStartOf(atMs);
  }
}

/** When the next period begins, in epoch milliseconds; undefined for a quota that never restarts. */
export function quotaResetsAt(reset: QuotaReset, atMs: number): number | undefined {
  if (reset === "total") return undefined;
  if (reset === "monthly") return monthStartOf(atMs, 1) * DAY_MS;
  return (quotaPeriod(reset, atMs) + (reset === "weekly" ? 7 : 1)) * DAY_MS;
}

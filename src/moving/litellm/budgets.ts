import type { Micros } from "../../domain/money/money.ts";
import type { QuotaReset } from "../../domain/money/quota.ts";
import { microsOf } from "../amounts.ts";
import { type Row, textOf } from "../fields.ts";

export interface MovedQuota {
  readonly limit: Micros;
  readonly reset: QuotaReset;
  /** How it differs from what it was. */
  readonly note?: string | undefined;
}

/**
 * A budget as a quota that never lets more be spent: one that begins anew does so at least as rarely. Of one that never does, what is
 * left.
 *
 * @returns undefined without a budget; "unreadable" for one that is no amount
 */
export function quotaOf(row: Row): MovedQuota | undefined | "unreadable" {
  if (row.max_budget === null || row.max_budget === undefined) return undefined;
  const budget = microsOf(row.max_budget);
  const spent = microsOf(row.spend ?? 0);
  if (budget === undefined || spent === undefined) return "unreadable";
  const duration = textOf(row.budget_duration);
  const days = duration === undefined ? undefined : daysOf(duration);
  const left = Math.max(0, budget - spent) as Micros;
  if (duration === undefined) return { limit: left, reset: "total" };
  if (days === undefined || days > 31)
    return {
      limit: left,
      reset: "total",
      note: `a budget for each ${duration} became a total of what is left`,
    };
  const reset: QuotaReset = days <= 1 ? "daily" : days <= 7 ? "weekly" : "monthly";
  const isSame = days === 1 || days === 7 || days >= 28;
  const note = isSame
    ? `begins anew ${reset} in UTC; what was spent in this period does not count`
    : `a budget for each ${duration} became a ${reset} one`;
  return { limit: budget, reset, note };
}

const UNIT_DAYS: Readonly<Record<string, number>> = {
  s: 1 / 86_400,
  m: 1 / 1440,
  h: 1 / 24,
  d: 1,
  w: 7,
  mo: 31,
  y: 366,
};

/** `30d`, `24h`, `1mo` in days. @returns undefined for anything else */
function daysOf(duration: string): number | undefined {
  const [, count, unit = ""] = /^(\d+)(s|m|h|d|w|mo|y)$/.exec(duration.trim()) ?? [];
  const days = UNIT_DAYS[unit];
  return count === undefined || days === undefined || Number(count) === 0 ? undefined : Number(count) * days;
}

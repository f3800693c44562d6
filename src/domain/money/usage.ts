import type { Account, ApiKey } from "../access/account.ts";
import { DAY_MS, dayOf } from "../day.ts";
import type { LaneId } from "../ids.ts";
import type { Transition } from "../task/transition.ts";
import { addSums, type Micros, type MicrosSum, sumMicros, toMicros, ZERO } from "./money.ts";

/** Sums over tasks that ended. */
export interface UsageTotal {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Images and videos delivered. */
  readonly outputs: number;
  /** Captured from the account. */
  readonly charged: MicrosSum;
}

/** The tasks that ended on one day. */
export interface UsageDay extends UsageTotal {
  /** Counted from 1970-01-01, UTC. */
  readonly day: number;
}

/** What one task adds to the day on which it ended. */
export interface TaskUsage extends UsageDay {
  readonly charged: Micros;
}

/** Writes a day as `2026-11-01`. */
export function formatDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Reads what `formatDay` writes; undefined for anything else, and for days that do not exist, such as June 31. */
export function parseDay(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const day = dayOf(at);
  return formatDay(day) === text ? day : undefined;
}

/** What a transition adds to the usage of its task's account. @returns undefined for a transition that does not end the task */
export function usageOf({ ending, ledger }: Transition): TaskUsage | undefined {
  if (ending === undefined) return undefined;
  return {
    day: dayOf(ending.completedAt),
    completed: ending.status === "completed" ? 1 : 0,
    failed: ending.status === "failed" ? 1 : 0,
    cancelled: ending.status === "cancelled" ? 1 : 0,
    outputs: ending.results.length,
    // Taken from the ledger entry, so usage and ledger cannot differ.
    charged: toMicros(0 - sumMicros(ledger.map((entry) => entry.balanceDelta))),
  };
}

/** The sum of several days. */
export function sumUsage(days: readonly UsageTotal[]): UsageTotal {
  return days.reduce<UsageTotal>(
    (total, day) => ({
      completed: total.completed + day.completed,
      failed: total.failed + day.failed,
      cancelled: total.cancelled + day.cancelled,
      outputs: total.outputs + day.outputs,
      charged: addSums([total.charged, day.charged]),
    }),
    { completed: 0, failed: 0, cancelled: 0, outputs: 0, charged: ZERO },
  );
}

/** How long tasks usually take, in milliseconds. */
export interface UsualDuration {
  readonly p50Ms: number;
  readonly p90Ms: number;
}

/** Fewer tasks do not show what is usual. */
const FEWEST_DURATIONS = 5;

/** Median and ninth decile by nearest rank; undefined for fewer than five durations. */
export function usualDuration(durationsMs: readonly number[]): UsualDuration | undefined {
  if (durationsMs.length < FEWEST_DURATIONS) return undefined;
  // Of a task during which the clock was set back, the duration is negative.
  const sorted = durationsMs.map((ms) => Math.max(0, ms)).sort((a, b) => a - b);
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { p50Ms: rank(0.5), p90Ms: rank(0.9) };
}

/** What usage can be summed up by. */
export const USAGE_GROUPS = ["key", "model", "day", "account", "provider"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** What each line of usage sums up: one thing, or a pair of two. */
export interface UsageSplit {
  readonly by: UsageGroup;
  readonly and?: UsageGroup | undefined;
}

/** Most lines of a report. */
export const MOST_USAGE_LINES = 10_000;

/** The written form of a split: `day`, or `day,model`. */
export function formatSplit({ by, and }: UsageSplit): string {
  return and === undefined ? by : `${by},${and}`;
}

/** Reads what `formatSplit` writes. @returns undefined for anything else, such as a thing named twice */
export function parseSplit(
  text: string,
  groups: readonly UsageGroup[] = USAGE_GROUPS,
): UsageSplit | undefined {
  const names = text.split(",");
  const [by, and] = names.map((name) => groups.find((group) => group === name));
  if (by === undefined || names.length > 2 || by === and) return undefined;
  if (names.length === 1) return { by };
  return and === undefined ? undefined : { by, and };
}

/** Sums over tasks, with the margin as far as it is known. */
export interface UsageSum extends UsageTotal {
  /** Submissions that got no answer and were repeated, as the operator wants. */
  readonly resubmitted: number;
  /** What upstreams charged the operator; absent where it is unknown. */
  readonly cost?: MicrosSum | undefined;
  /** Charges minus costs, over the tasks whose cost is known. */
  readonly margin?: MicrosSum | undefined;
}

/** The tasks of one key, model, day, account or provider, or of two of them. */
export interface UsageRow extends UsageSum {
  readonly account?: Pick<Account, "id" | "name"> | undefined;
  readonly key?: Pick<ApiKey, "id" | "name"> | undefined;
  readonly model?: string | undefined;
  readonly day?: number | undefined;
  readonly provider?: LaneId | undefined;
}

/** Usage over days, both included. */
export interface UsageReport extends UsageSplit {
  readonly since: number;
  readonly until: number;
  readonly rows: readonly UsageRow[];
  readonly total: UsageSum;
}

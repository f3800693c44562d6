import type { Database } from "bun:sqlite";
import { DAY_MS } from "../../domain/day.ts";
import { PAGE, pageOf } from "./audit/seal-table.ts";
import { REMOVED } from "./task-store/task-table.ts";

/*
 * Reports of usage sum up tasks by pages of their numbers. A page whose tasks have all ended comes to the same ever after, but for what
 * retention changes, which raises the page's generation in the same transaction: until then what it came to need not be read again.
 */

/** What tasks come to that are alike in account, day, key, model and provider: the columns of `UsageSums`, in their order. */
export type UsageSum = readonly [
  ...place: [account: number, day: number, key: number, model: number, provider: string],
  ...figures: number[],
];

/** What a page came to while its generation was this one. */
export interface UsagePage {
  readonly generation: number;
  /** Of `UsageSum`s, as JSON: many pages are kept. */
  readonly sums: string;
}
/** By their numbers, pages whose tasks have all ended. */
export type UsagePages = ReadonlyMap<number, UsagePage>;

/** `UsageSum` as columns. Those of `books_day`, but for what was cancelled. */
export const SUM_COLUMNS = [
  ...["account_number", "day", "key_label", "model_label", "provider"],
  ...["tasks", "completed", "cancelled", "outputs", "charged_micros"],
  ...["costed", "cost_micros", "charged_here_micros", "charged_once_micros", "resubmitted"],
] as const;
const PLACE = 5;

/** A removed task counts as completed if it had results, and as failed if not. */
const OF_TASKS = `
  select account_number, completed_at / ${DAY_MS} as day, key_label, model_label, lane, count(*) as tasks,
    count(*) filter (where status = 'completed' or (status = '${REMOVED}' and json_array_length(results) > 0)) as completed,
    count(*) filter (where status = 'cancelled') as cancelled,
    sum(coalesce(json_array_length(results), 0)) as outputs, sum(coalesce(charged_micros, 0)) as charged,
    0, 0, 0, 0, 0
  from task where number between ?1 and ?2 and stage = 'terminal' group by 1, 2, 3, 4, 5`;

/** Sums the attempts of a task first, so that its charge counts once: at the first provider with a cost, and at the one that had it last. */
const OF_ATTEMPTS = `
  select account_number, completed_at / ${DAY_MS} as day, key_label, model_label, spent.provider, 0, 0, 0, 0, 0,
    count(cost) as costed, coalesce(sum(cost), 0) as cost,
    coalesce(sum(charged_micros) filter (where cost is not null and spent.provider = lane), 0) as here,
    coalesce(sum(charged_micros) filter (where cost is not null and nth = 1), 0) as once, sum(repeats) as repeats
  from (select task_number, attempt.provider, sum(cost_micros) as cost,
      count(*) filter (where state = 'ambiguous' and sequence < attempts) as repeats,
      row_number() over (partition by task_number order by sum(cost_micros) is null, attempt.provider) as nth
    from attempt cross join task on task.number = task_number
    where task_number between ?1 and ?2 and (cost_micros is not null or state = 'ambiguous') group by task_number, attempt.provider) as spent
  cross join task on task.number = spent.task_number
  where stage = 'terminal' and (cost is not null or repeats > 0) group by 1, 2, 3, 4, 5`;

/** Reads pages. Each of these sees a moment of its own unless a transaction holds them together. */
export function prepareUsagePages(db: Database) {
  type Numbers = [low: number, high: number];
  const tasks = db.prepare<unknown, Numbers>(OF_TASKS);
  const attempts = db.prepare<unknown, Numbers>(OF_ATTEMPTS);
  const live = db.prepare<unknown, Numbers>(
    "select 1 from task where number between ? and ? and stage <> 'terminal' limit 1",
  );
  const bounds = db.prepare<{ first: number | null; last: number | null }, []>(
    `select (select ${pageOf("min(number)")} from task) as first, (select ${pageOf("max(number)")} from task) as last`,
  );
  const generation = db.prepare<{ generation: number }, [page: number]>(
    "select generation from audit_seal where table_name = 'task' and page = ?",
  );
  const numbersOf = (page: number): Numbers => [page * PAGE, (page + 1) * PAGE - 1];
  return {
    /** The numbers of all pages. Later tasks have higher numbers than all there are. */
    all(): number[] {
      const { first, last } = bounds.get() ?? {};
      if (first == null || last == null) return [];
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    },
    generationOf: (page: number): number => generation.get(page)?.generation ?? 0,
    hasLive: (page: number): boolean => live.get(...numbersOf(page)) !== null,
    // Safe: these are the columns of a sum.
    sumsOf: (page: number): UsageSum[] =>
      [...tasks.values(...numbersOf(page)), ...attempts.values(...numbersOf(page))] as unknown as UsageSum[],
  };
}

/** Adds sums up, of days between two. */
export function createUsageSums({ from, to }: { readonly from: number; readonly to: number }) {
  const added = new Map<string, (number | string)[]>();
  return {
    add(sums: readonly UsageSum[]): void {
      for (const sum of sums) {
        if (sum[1] < from || sum[1] > to) continue;
        const name = sum.slice(0, PLACE).join(" ");
        const before = added.get(name);
        if (before === undefined) added.set(name, [...sum]);
        else for (let i = PLACE; i < sum.length; i++) before[i] = Number(before[i]) + Number(sum[i]);
      }
    },
    /** As JSON. */
    text: (): string => JSON.stringify([...added.values()]),
  };
}

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
  /** Names the database that it was read of, where another one may take its place meanwhile. */
  readonly history?: string | undefined;
}
/** By their numbers, pages whose tasks have all ended. */
export type UsagePages = ReadonlyMap<number, UsagePage>;

/** `UsageSum` as columns. Those of `books_day`, but for what was cancelled. */
export const SUM_COLUMNS = [
  ...["account_number", "day", "key_label", "model_label", "provider"],
  ...["tasks", "completed", "cancelled", "outputs", "charged_micros"],
  ...["costed", "cost_micros", "charged_here_micros", "charged_once_micros", "resubmitted"],
] as const;
/** How many of them are the place. */
export const PLACE = 5;

/** Which tasks are summed up, and by what. */
export interface Summed {
  /** The rows of `task`, and of `attempt`, that are looked at: what stands after `from`, ending where a condition can follow. */
  readonly tasks: string;
  readonly attempts: string;
  /** The columns that sums are told apart by, given that of the provider. */
  readonly places: (provider: string) => readonly string[];
}

/** What sums are told apart by: the place of `UsageSum`. */
export const placeOf = (provider: string): readonly string[] => [
  ...["account_number", `completed_at / ${DAY_MS} as day`, "key_label", "model_label"],
  `${provider} as provider`,
];

const grouped = (places: readonly string[]): string => places.map((_, i) => i + 1).join(", ");

/**
 * Sums of tasks, as SQL. A removed task counts as completed if it had results, and as failed if not.
 *
 * @param outputs how many results a task has, null for none
 */
export function sumsOfTasks(outputs: string, { tasks, places }: Summed): string {
  const of = places("lane");
  return `select ${of.join(", ")}, count(*) as tasks,
    count(*) filter (where status = 'completed' or (status = '${REMOVED}' and ${outputs} > 0)) as completed,
    count(*) filter (where status = 'cancelled') as cancelled,
    sum(coalesce(${outputs}, 0)) as outputs, sum(coalesce(charged_micros, 0)) as charged_micros,
    0 as costed, 0 as cost_micros, 0 as charged_here_micros, 0 as charged_once_micros, 0 as resubmitted
  from ${tasks} stage = 'terminal' group by ${grouped(of)}`;
}

/** Whether an attempt is the first of its task that cost something, as SQL. Most have the sequence 1. @param among further conditions of those before */
const isFirst = (among = "") => `(sequence = 1 or not exists (select 1 from attempt as earlier
  where earlier.task_number = attempt.task_number and earlier.sequence < attempt.sequence and earlier.cost_micros is not null ${among}))`;
const REPEATS = "count(*) filter (where state = 'ambiguous' and sequence < attempts)";

/** The same of attempts. A task's charge counts once: with its first attempt that cost something, and with the first at the provider that had the task last. */
export function sumsOfAttempts({ attempts, places }: Summed): string {
  const of = places("provider");
  const charged = (where: string) =>
    `coalesce(sum(charged_micros) filter (where cost_micros is not null and ${where}), 0)`;
  return `select ${of.join(", ")}, 0 as tasks, 0 as completed, 0 as cancelled, 0 as outputs, 0 as charged_micros,
    count(cost_micros) as costed, coalesce(sum(cost_micros), 0) as cost_micros,
    ${charged(`provider = lane and ${isFirst("and earlier.provider = attempt.provider")}`)} as charged_here_micros,
    ${charged(isFirst())} as charged_once_micros, ${REPEATS} as resubmitted
  from ${attempts} stage = 'terminal' and (cost_micros is not null or state = 'ambiguous')
  group by ${grouped(of)} having count(cost_micros) > 0 or ${REPEATS} > 0`;
}

const OF_PAGE: Summed = {
  tasks: "task where number between ?1 and ?2 and",
  attempts: "attempt cross join task on task.number = task_number where task_number between ?1 and ?2 and",
  places: placeOf,
};

/** Reads pages. Each of these sees a moment of its own unless a transaction holds them together. */
export function prepareUsagePages(db: Database) {
  type Numbers = [low: number, high: number];
  const tasks = db.prepare<unknown, Numbers>(sumsOfTasks("json_array_length(results)", OF_PAGE));
  const attempts = db.prepare<unknown, Numbers>(sumsOfAttempts(OF_PAGE));
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

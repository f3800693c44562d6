import type { Database } from "bun:sqlite";
import type { AccountId } from "../../domain/ids.ts";
import { toMicros } from "../../domain/money/money.ts";
import { MOST_USAGE_LINES, type UsageGroup, type UsageSplit } from "../../domain/money/usage.ts";
import type { UsageLine, UsageQuery } from "../../domain/ports/usage-store.ts";
import { accountNumber } from "./account-store/account-table.ts";
import { named, REMOVED } from "./task-store/task-table.ts";

export type Subject = Pick<UsageLine, "accountId" | "keyId" | "model" | "day" | "provider">;
export type Totals = Omit<UsageLine, "cost" | "chargedAtCost" | "resubmitted">;
export type Spent = Subject & { readonly cost: number; readonly charged: number };
export type Repeated = Subject & { readonly count: number };
export type Range = [account: AccountId | null, from: number, to: number];

/** The columns that a line of a group is told apart by. */
const COLUMNS: Readonly<Record<UsageGroup, readonly string[]>> = {
  key: ['account_id as "accountId"', 'key_id as "keyId"'],
  account: ['account_id as "accountId"'],
  model: ["model"],
  day: ["day"],
  provider: ["provider"],
};

/** The totals of days, which have no providers. */
const DAYS = `select account_id, key_id, model, day, completed, failed, cancelled, outputs, charged_micros from usage_day
  where (?1 is null or account_id = ?1) and day between ?2 and ?3`;

/** Whether a task is one of the account that is asked for, if one is. */
const OF_ACCOUNT = `(?1 is null or account_number = ${accountNumber("?1")})`;

/** The columns that `COLUMNS` and `DAYS` have, of a task. */
const OF_TASK = named("account_id", "key_id", "model");

/** The same of each task, with its provider. Of a removed task is left how many results it had, and what it was charged. */
const TASKS = `select account_id, key_id, model, day, provider, outputs, charged_micros,
    status = 'completed' or (status = '${REMOVED}' and outputs > 0) as completed,
    status = 'failed' or (status = '${REMOVED}' and outputs = 0) as failed, status = 'cancelled' as cancelled
  from (select ${OF_TASK}, completed_at / 86400000 as day, lane as provider, status,
      coalesce(json_array_length(results), 0) as outputs, coalesce(charged_micros, 0) as charged_micros
    from task where stage = 'terminal' and ${OF_ACCOUNT})
  where day between ?2 and ?3
  union all
  select ${OF_TASK}, day, provider, outputs, charged_micros, completed, tasks - completed, 0
  from books_day where tasks > 0 and ${OF_ACCOUNT} and day between ?2 and ?3`;

/** The body of `UsageStore.report`. */
export function prepareUsageReport(db: Database): (query: UsageQuery) => UsageLine[] {
  const known = new Map<string, ReturnType<typeof prepareSplit>>();
  return ({ accountId, from, to, by, and, isWithoutCosts = false }) => {
    const statements = known.getOrInsertComputed(`${by} ${and}`, () => prepareSplit(db, { by, and }));
    const range: Range = [accountId ?? null, from, to];
    const lines = statements.lines.all(...range);
    if (isWithoutCosts) return linesWithoutCosts(lines);
    return linesOf(lines, statements.costs.all(...range), statements.repeats.all(...range));
  };
}

export function linesWithoutCosts(lines: readonly Totals[]): UsageLine[] {
  return lines.map((row) => ({ ...row, charged: toMicros(row.charged) }));
}

/** The lines of a report, each with what it cost and what was submitted again. */
export function linesOf(
  lines: readonly Totals[],
  costs: readonly Spent[],
  repeats: readonly Repeated[],
): UsageLine[] {
  const spent = new Map(costs.map((row) => [nameOf(row), row]));
  const repeated = new Map(repeats.map((row) => [nameOf(row), row.count]));
  return lines.map((row) => {
    const atCost = spent.get(nameOf(row));
    const resubmitted = repeated.get(nameOf(row));
    return {
      ...row,
      charged: toMicros(row.charged),
      cost: atCost && toMicros(atCost.cost),
      chargedAtCost: atCost && toMicros(atCost.charged),
      ...(resubmitted !== undefined && { resubmitted }),
    };
  });
}

/** How the lines of a split are told apart, as SQL. */
export function placesOf({ by, and }: UsageSplit) {
  const groups = and === undefined ? [by] : [by, and];
  const columns = [...new Set(groups.flatMap((group) => COLUMNS[group]))];
  return {
    list: columns.join(", "),
    places: columns.map((_, i) => i + 1).join(", "),
    isByProvider: groups.includes("provider"),
  };
}

function prepareSplit(db: Database, split: UsageSplit) {
  const { list, places, isByProvider } = placesOf(split);
  const lines = db.prepare<Totals, Range>(
    `select ${list}, sum(completed) as completed, sum(failed) as failed, sum(cancelled) as cancelled,
       sum(outputs) as outputs, sum(charged_micros) as charged
     from (${isByProvider ? TASKS : DAYS}) group by ${places} order by ${places} limit ${MOST_USAGE_LINES + 1}`,
  );
  // Sums the attempts of a task first, so that its charge counts once: at the provider that had it last.
  const spentBy = isByProvider ? "task_number, provider" : "task_number";
  const charged = isByProvider ? "iif(spent.provider = lane, charged_micros, 0)" : "charged_micros";
  const costs = db.prepare<Spent, Range>(
    `select ${list}, sum(cost) as cost, sum(charged) as charged from (
       select ${OF_TASK}, ${isByProvider ? "spent.provider, " : ""}completed_at / 86400000 as day, ${charged} as charged, cost
       from (select ${spentBy}, sum(cost_micros) as cost from attempt where cost_micros is not null group by ${spentBy}) as spent
       cross join task on task.number = spent.task_number
       where stage = 'terminal' and ${OF_ACCOUNT}
       union all
       select ${OF_TASK}, ${isByProvider ? "provider, " : ""}day, ${isByProvider ? "charged_here_micros" : "charged_once_micros"}, cost_micros
       from books_day where costed > 0 and ${OF_ACCOUNT})
     where day between ?2 and ?3 group by ${places}`,
  );
  const repeats = db.prepare<Repeated, Range>(
    `select ${list}, sum(times) as count from (
       select ${OF_TASK}, attempt.provider, completed_at / 86400000 as day, 1 as times
       from attempt cross join task on task.number = attempt.task_number
       where attempt.state = 'ambiguous' and attempt.sequence < task.attempts and stage = 'terminal'
         and ${OF_ACCOUNT}
       union all
       select ${OF_TASK}, provider, day, resubmitted from books_day where resubmitted > 0 and ${OF_ACCOUNT})
     where day between ?2 and ?3 group by ${places}`,
  );
  return { lines, costs, repeats };
}

/** Tells lines of one split apart. */
function nameOf({ accountId, keyId, model, day, provider }: Subject): string {
  return [accountId, keyId, model, day, provider].join(" ");
}

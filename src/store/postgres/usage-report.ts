import { MOST_USAGE_LINES, type UsageSplit } from "../../domain/money/usage.ts";
import type { UsageLine, UsageQuery } from "../../domain/ports/usage-store.ts";
import { accountNumber } from "../sqlite/account-store/account-table.ts";
import { named, REMOVED } from "../sqlite/task-store/task-table.ts";
import {
  linesOf,
  linesWithoutCosts,
  placesOf,
  type Range,
  type Repeated,
  type Spent,
  type Totals,
} from "../sqlite/usage-report.ts";
import { type Session, statement } from "./session.ts";

const IN_RANGE = "day between $2::bigint and $3::bigint";

/** The totals of days, which have no providers. */
const DAYS = `select account_id, key_id, model, day, completed, failed, cancelled, outputs, charged_micros from usage_day
  where ($1::text is null or account_id = $1) and ${IN_RANGE}`;

/** Whether a task is one of the account that is asked for, if one is. */
const OF_ACCOUNT = `($1::text is null or account_number = ${accountNumber("$1")})`;

/** The columns that a line is told apart by and `DAYS` has, of a task. */
const OF_TASK = named("account_id", "key_id", "model");

/** The same of each task, with its provider. Of a removed task is left how many results it had, and what it was charged. */
const TASKS = `select account_id, key_id, model, day, provider, outputs, charged_micros,
    (status = 'completed' or (status = '${REMOVED}' and outputs > 0))::int as completed,
    (status = 'failed' or (status = '${REMOVED}' and outputs = 0))::int as failed, (status = 'cancelled')::int as cancelled
  from (select ${OF_TASK}, completed_at / 86400000 as day, lane as provider, status,
      count_results(results) as outputs, coalesce(charged_micros, 0) as charged_micros
    from task where stage = 'terminal' and ${OF_ACCOUNT}) as ended
  where ${IN_RANGE}
  union all
  select ${OF_TASK}, day, provider, outputs, charged_micros, completed, tasks - completed, 0
  from books_day where tasks > 0 and ${OF_ACCOUNT} and ${IN_RANGE}`;

function prepareSplit(split: UsageSplit) {
  const { list, places, isByProvider } = placesOf(split);
  const totals = ["completed", "failed", "cancelled", "outputs"].map(
    (column) => `sum(${column})::bigint as ${column}`,
  );
  const lines = statement<Totals, Range>(
    `select ${list}, ${totals.join(", ")}, sum(charged_micros)::bigint as charged
     from (${isByProvider ? TASKS : DAYS}) as ended group by ${places} order by ${places} limit ${MOST_USAGE_LINES + 1}`,
  );
  // Sums the attempts of a task first, so that its charge counts once: at the provider that had it last.
  const spentBy = isByProvider ? "task_number, provider" : "task_number";
  const charged = isByProvider
    ? "case when spent.provider = lane then charged_micros else 0 end"
    : "charged_micros";
  const costs = statement<Spent, Range>(
    `select ${list}, sum(cost)::bigint as cost, sum(charged)::bigint as charged from (
       select ${OF_TASK}, ${isByProvider ? "spent.provider, " : ""}completed_at / 86400000 as day, ${charged} as charged, cost
       from (select ${spentBy}, sum(cost_micros) as cost from attempt where cost_micros is not null group by ${spentBy}) as spent
       join task on task.number = spent.task_number
       where stage = 'terminal' and ${OF_ACCOUNT}
       union all
       select ${OF_TASK}, ${isByProvider ? "provider, " : ""}day, ${isByProvider ? "charged_here_micros" : "charged_once_micros"}, cost_micros
       from books_day where costed > 0 and ${OF_ACCOUNT}) as spent
     where ${IN_RANGE} group by ${places}`,
  );
  const repeats = statement<Repeated, Range>(
    `select ${list}, sum(times)::bigint as count from (
       select ${OF_TASK}, attempt.provider, completed_at / 86400000 as day, 1 as times
       from attempt join task on task.number = attempt.task_number
       where attempt.state = 'ambiguous' and attempt.sequence < task.attempts and stage = 'terminal' and ${OF_ACCOUNT}
       union all
       select ${OF_TASK}, provider, day, resubmitted from books_day where resubmitted > 0 and ${OF_ACCOUNT}) as repeated
     where ${IN_RANGE} group by ${places}`,
  );
  return { lines, costs, repeats };
}

const known = new Map<string, ReturnType<typeof prepareSplit>>();

/** The body of `UsageStore.report`, for a session that sees one moment. It reads as much as it sums up. */
export async function usageReport(
  session: Session,
  { accountId, from, to, by, and, isWithoutCosts = false }: UsageQuery,
): Promise<UsageLine[]> {
  const statements = known.getOrInsertComputed(`${by} ${and}`, () => prepareSplit({ by, and }));
  const range: Range = [accountId ?? null, from, to];
  const lines = await statements.lines.all(session, ...range);
  if (isWithoutCosts) return linesWithoutCosts(lines);
  const costs = await statements.costs.all(session, ...range);
  return linesOf(lines, costs, await statements.repeats.all(session, ...range));
}

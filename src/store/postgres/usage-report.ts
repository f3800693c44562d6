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

/** The same of a task, by when it ended, of which the planner has statistics. */
const ENDED_IN_RANGE = "completed_at >= $2::bigint * 86400000 and completed_at < ($3::bigint + 1) * 86400000";

/** Whether a task is one of the account that is asked for, if one is. */
const OF_ACCOUNT = `($1::text is null or account_number = ${accountNumber("$1")})`;

/** The columns that a line is told apart by and `DAYS` has, of tasks of one account, key and model. */
const OF_TASK = named("account_id", "key_id", "model");

/** What tasks are summed up by before their accounts, keys and models are named: there are few of these beside the tasks. */
const PLACE = "account_number, key_label, model_label, day, provider";

/**
 * The same as `DAYS` of each task, with its provider. Of a removed task is left how many results it had, and what it was charged. No
 * function of ours counts the results: with one, the server would read with one process alone.
 */
const TASKS = `select ${OF_TASK}, day, provider, outputs, charged_micros, completed, failed, cancelled from (
    select ${PLACE}, sum(outputs)::bigint as outputs, sum(charged_micros)::bigint as charged_micros,
      count(*) filter (where status = 'completed' or (status = '${REMOVED}' and outputs > 0)) as completed,
      count(*) filter (where status = 'failed' or (status = '${REMOVED}' and outputs = 0)) as failed,
      count(*) filter (where status = 'cancelled') as cancelled
    from (select account_number, key_label, model_label, completed_at / 86400000 as day, lane as provider, status,
        coalesce(json_array_length(results::json), 0) as outputs, coalesce(charged_micros, 0) as charged_micros
      from task where stage = 'terminal' and ${OF_ACCOUNT} and ${ENDED_IN_RANGE}) as ended
    group by ${PLACE}
    union all
    select ${PLACE}, outputs, charged_micros, completed, tasks - completed, 0
    from books_day where tasks > 0 and ${OF_ACCOUNT} and ${IN_RANGE}) as summed`;

function prepareSplit(split: UsageSplit) {
  const { list, places, isByProvider } = placesOf(split);
  const totals = ["completed", "failed", "cancelled", "outputs"].map(
    (column) => `sum(${column})::bigint as ${column}`,
  );
  const lines = statement<Totals, Range>(
    `select ${list}, ${totals.join(", ")}, sum(charged_micros)::text as charged
     from (${isByProvider ? TASKS : DAYS}) as ended group by ${places} order by ${places} limit ${MOST_USAGE_LINES + 1}`,
  );
  // A task's charge counts once, with the first of its attempts that cost something: at the provider that had it last.
  const isFirst = `(sequence = 1 or not exists (select 1 from attempt as earlier where earlier.task_number = attempt.task_number
      and earlier.sequence < attempt.sequence and earlier.cost_micros is not null
      ${isByProvider ? "and earlier.provider = attempt.provider" : ""}))`;
  const isCharged = isByProvider ? `provider = lane and ${isFirst}` : isFirst;
  const costs = statement<Spent, Range>(
    `select ${list}, sum(cost)::text as cost, sum(charged)::text as charged from (
       select ${OF_TASK}, provider, day, charged, cost from (
         select ${PLACE}, sum(charged)::bigint as charged, sum(cost)::bigint as cost from (
           select account_number, key_label, model_label, completed_at / 86400000 as day, provider,
             case when ${isCharged} then charged_micros else 0 end as charged, cost_micros as cost
           from attempt join task on task.number = task_number
           where cost_micros is not null and stage = 'terminal' and ${OF_ACCOUNT} and ${ENDED_IN_RANGE}) as spent
         group by ${PLACE}
         union all
         select ${PLACE}, ${isByProvider ? "charged_here_micros" : "charged_once_micros"}, cost_micros
         from books_day where costed > 0 and ${OF_ACCOUNT} and ${IN_RANGE}) as summed) as named
     group by ${places}`,
  );
  const repeats = statement<Repeated, Range>(
    `select ${list}, sum(times)::bigint as count from (
       select ${OF_TASK}, attempt.provider, completed_at / 86400000 as day, 1 as times
       from attempt join task on task.number = attempt.task_number
       where attempt.state = 'ambiguous' and attempt.sequence < task.attempts and stage = 'terminal' and ${OF_ACCOUNT}
         and ${ENDED_IN_RANGE}
       union all
       select ${OF_TASK}, provider, day, resubmitted from books_day where resubmitted > 0 and ${OF_ACCOUNT} and ${IN_RANGE}) as repeated
     group by ${places}`,
  );
  return { lines, costs, repeats };
}

/** Until the end of the transaction. A plan that serves all ranges takes each for a small one, and seeks what it should read in one go. */
const PLAN_ANEW = statement("select set_config('plan_cache_mode', 'force_custom_plan', true) as planned");

const known = new Map<string, ReturnType<typeof prepareSplit>>();

/** The body of `UsageStore.report`, for a session that sees one moment. It reads as much as it sums up. */
export async function usageReport(
  session: Session,
  { accountId, from, to, by, and, isWithoutCosts = false }: UsageQuery,
): Promise<UsageLine[]> {
  const statements = known.getOrInsertComputed(`${by} ${and}`, () => prepareSplit({ by, and }));
  const range: Range = [accountId ?? null, from, to];
  await PLAN_ANEW.run(session);
  const lines = await statements.lines.all(session, ...range);
  if (isWithoutCosts) return linesWithoutCosts(lines);
  const costs = await statements.costs.all(session, ...range);
  return linesOf(lines, costs, await statements.repeats.all(session, ...range));
}

import { DAY_MS } from "../../../domain/day.ts";
import type { TaskId } from "../../../domain/ids.ts";
import { SUMMED_UP, SYSTEM } from "../../../domain/money/ledger.ts";
import type { Removed, RemovedQuery } from "../../../domain/ports/retention-store.ts";
import {
  AMOUNTS,
  added,
  COLUMNS,
  type Entry,
  FIGURES,
  FIRST,
  PERIOD,
  PLACE,
  REMOVED_AT,
  type RemovedRow,
  removedIn,
  type Sum,
} from "../../sqlite/retention-store/sum-up.ts";
import { REMOVED } from "../../sqlite/task-store/task-table.ts";
import type { Labels } from "../labels.ts";
import { breakSeal } from "../seal-store.ts";
import { type Session, statement } from "../session.ts";

/**
 * Whether the rows of a task may be merged into sums, as SQL. The latest task of all stays, and so does the latest change of
 * each account. Tasks from a moved folder that ended before usage was counted by day also stay, because the audit leaves their
 * days out.
 */
const IS_SUMMABLE = `(status = '${REMOVED}' and number < (select max(number) from task) and abs(change) < greatest(
  coalesce((select max(change) from task as other where other.account_number = task.account_number), 0),
  coalesce((select -min(change) from task as other where other.account_number = task.account_number), 0))
  and not exists (select 1 from uncounted_time where completed_at >= from_at and completed_at < until_at))`;

const ROWS = statement<RemovedRow, [before: number, at: number, number: number, limit: number]>(
  `select id, number, ${REMOVED_AT} as at, ${IS_SUMMABLE}::int as "isSummable" from task
   where status = '${REMOVED}' and ${REMOVED_AT} < $1 and ${REMOVED_AT} >= $2 and (${REMOVED_AT} > $2 or number > $3)
   order by ${REMOVED_AT}, number limit $4`,
);
const NUMBER = statement<{ number: number }, [id: string]>(
  `select number from task where id = $1 and ${IS_SUMMABLE}`,
);

const ADD = `on conflict (${COLUMNS}) do update set ${FIGURES.map((name) => `${name} = books_day.${name} + excluded.${name}`).join(", ")}`;
const ADD_TASK = statement<never, [task: number]>(
  `insert into books_day (${COLUMNS}, ${FIGURES.join(", ")})
   select ${PLACE}, lane, ${PERIOD}, 1, (count_results(results) > 0)::int, count_results(results), coalesce(charged_micros, 0), 0, 0, 0, 0, 0
   from task where number = $1 ${ADD}`,
);
/**
 * Sums up a task's attempts by provider. Its charge counts once at the first attempt with a cost, and at the provider that had
 * the task last.
 */
const ADD_ATTEMPTS = statement<never, [task: number]>(
  `insert into books_day (${COLUMNS}, ${FIGURES.join(", ")})
   select ${PLACE}, spent.provider, ${PERIOD}, 0, 0, 0, 0, (cost is not null)::int, coalesce(cost, 0),
     case when cost is not null and spent.provider = lane then coalesce(charged_micros, 0) else 0 end,
     case when cost is not null and nth = 1 then coalesce(charged_micros, 0) else 0 end, repeats
   from (
     select attempt.provider, sum(cost_micros) as cost,
       count(*) filter (where state = 'ambiguous' and sequence < attempts) as repeats,
       row_number() over (order by sum(cost_micros) is null, attempt.provider) as nth
     from attempt join task on task.number = task_number where task_number = $1 group by attempt.provider
   ) as spent join task on task.number = $1
   where cost is not null or repeats > 0 ${ADD}`,
);
const ENTRIES = statement<Entry, [task: number]>(
  `select ${AMOUNTS}, account_number, kind from ledger_entry
   where account_number = (select account_number from task where number = $1) and task_number = $1`,
);
const SUM = statement<Sum, [account: number, kind: string, at: number]>(
  `select ${AMOUNTS}, entries from ledger_entry
   where account_number = $1 and kind = $2 and at / ${DAY_MS} = $3::bigint / ${DAY_MS} and entries is not null`,
);
const REMOVE_ENTRY = statement<never, [id: number]>("delete from ledger_entry where id = $1");
const INSERT_SUM = statement<never, (number | string)[]>(
  `insert into ledger_entry (id, account_number, kind, balance_delta_micros, held_delta_micros, at, entries, reason_label, actor_label)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);
const REMOVE_ATTEMPTS = statement<never, [task: number]>("delete from attempt where task_number = $1");
const REMOVE_TASK = statement<never, [task: number]>("delete from task where number = $1");

/** The body of `RetentionStore.removed`. */
export async function removedTasks(
  session: Session,
  { removedBefore, after = FIRST, limit }: RemovedQuery,
): Promise<Removed> {
  return removedIn(await ROWS.all(session, removedBefore, after.at, after.number, limit), limit);
}

/**
 * Turns the rows of a removed task into sums, as SQLite does. Does nothing to a task that must stay. It holds the row of the task's
 * account.
 */
export async function sumUp(session: Session, labels: Labels, id: TaskId): Promise<void> {
  const number = (await NUMBER.get(session, id))?.number;
  if (number === undefined) return;
  await ADD_TASK.run(session, number);
  await ADD_ATTEMPTS.run(session, number);
  await sumEntries(session, labels, number);
  await REMOVE_ATTEMPTS.run(session, number);
  await REMOVE_TASK.run(session, number);
  await breakSeal(session, "task", number);
}

/** Adds a task's ledger entries to the sums of their days and kinds. */
async function sumEntries(session: Session, labels: Labels, task: number): Promise<void> {
  const [reason, actor] = [await labels.of(SUMMED_UP), await labels.of(SYSTEM)];
  for (const { account_number, kind, ...own } of await ENTRIES.all(session, task)) {
    const before = await SUM.get(session, account_number, kind, own.at);
    const sum = before === undefined ? { ...own, entries: 1 } : added(before, own);
    // The sum gets the id of one of them.
    for (const entry of before === undefined ? [own] : [own, before]) {
      await REMOVE_ENTRY.run(session, entry.id);
      await breakSeal(session, "ledger_entry", entry.id);
    }
    const { id, balance, held, at, entries } = sum;
    await INSERT_SUM.run(session, id, account_number, kind, balance, held, at, entries, reason, actor);
  }
}

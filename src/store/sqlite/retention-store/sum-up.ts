import type { Database } from "bun:sqlite";
import { DAY_MS } from "../../../domain/day.ts";
import type { TaskId } from "../../../domain/ids.ts";
import { type LedgerKind, SUMMED_UP, SYSTEM } from "../../../domain/money/ledger.ts";
import type { Removed, RemovedPlace, RemovedQuery } from "../../../domain/ports/retention-store.ts";
import { NO_PERIOD } from "../books-table.ts";
import type { Connection } from "../connection.ts";
import { prepareLabels } from "../labels.ts";
import { prepareBreakSeal } from "../seal-store.ts";
import { REMOVED } from "../task-store/task-table.ts";

/** When a removed task was removed, as SQL. Its files went with it, if not before. */
export const REMOVED_AT = "files_removed_at";

/**
 * Whether the rows of a task may become sums, as SQL. The latest task of all stays, and the latest change of each account: the numbers of
 * the next ones follow theirs. So do tasks that ended before usage was counted by day: the audit leaves their days out.
 */
const IS_SUMMABLE = `status = '${REMOVED}' and number < (select max(number) from task) and abs(change) < max(
  coalesce((select max(change) from task as other indexed by task_change where other.account_number = task.account_number), 0),
  coalesce((select -min(change) from task as other indexed by task_change where other.account_number = task.account_number), 0))
  and not exists (
    select 1 from schema_migration as made cross join schema_migration as counted on counted.number = 2
    where made.number = 1 and completed_at >= made.applied_at and completed_at < counted.applied_at)`;

/** A removed task, and whether its rows may become sums. */
export interface RemovedRow extends RemovedPlace {
  readonly id: TaskId;
  readonly isSummable: 0 | 1;
}

/** Before every removed task. */
export const FIRST: RemovedPlace = { at: 0, number: 0 };

/**
 * Merges the rows of removed tasks into sums: their own and their attempts' rows into `books_day`, their ledger entries into one
 * entry for each day and kind. Every sum with which the books are checked stays the same.
 */
export function prepareSums(connection: Pick<Connection, "db" | "onUndone">) {
  const { db } = connection;
  const rows = db.prepare<RemovedRow, [before: number, at: number, number: number, limit: number]>(
    `select id, number, ${REMOVED_AT} as at, ${IS_SUMMABLE} as isSummable from task indexed by task_removed
     where status = '${REMOVED}' and ${REMOVED_AT} < ?1 and ${REMOVED_AT} >= ?2 and (${REMOVED_AT} > ?2 or number > ?3)
     order by ${REMOVED_AT}, number limit ?4`,
  );
  const numberOf = db.prepare<{ number: number }, [id: string]>(
    `select number from task where id = ? and ${IS_SUMMABLE}`,
  );
  const [addTask, addAttempts] = [prepareAddTask(db), prepareAddAttempts(db)];
  const sumEntries = prepareSumEntries(connection);
  const removeAttempts = db.prepare<never, [task: number]>("delete from attempt where task_number = ?");
  const removeTask = db.prepare<never, [task: number]>("delete from task where number = ?");
  const breakSeal = prepareBreakSeal(db);
  return {
    removed: ({ removedBefore, after = FIRST, limit }: RemovedQuery): Removed =>
      removedIn(rows.all(removedBefore, after.at, after.number, limit), limit),
    /** Does nothing to a task that must stay. */
    sumUp(id: TaskId): void {
      const number = numberOf.get(id)?.number;
      if (number === undefined) return;
      addTask.run(number);
      addAttempts.run(number);
      sumEntries(number);
      removeAttempts.run(number);
      removeTask.run(number);
      breakSeal("task", number);
    },
  };
}

/** The result of a search for removed tasks. */
export function removedIn(found: readonly RemovedRow[], limit: number): Removed {
  const last = found.length < limit ? undefined : found.at(-1);
  return {
    due: found.filter(({ isSummable }) => isSummable === 1).map(({ id }) => id),
    place: last && { at: last.at, number: last.number },
  };
}

export const COLUMNS = "account_number, day, key_label, model_label, provider, quota_period";
export const FIGURES = [
  ...["tasks", "completed", "outputs", "charged_micros"],
  ...["costed", "cost_micros", "charged_here_micros", "charged_once_micros", "resubmitted"],
];
const ADD = `on conflict do update set ${FIGURES.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`;
export const PLACE = `account_number, completed_at / ${DAY_MS}, key_label, model_label`;
export const PERIOD = `coalesce(quota_period, ${NO_PERIOD})`;

function prepareAddTask(db: Database) {
  return db.prepare<never, [task: number]>(
    `insert into books_day (${COLUMNS}, ${FIGURES.join(", ")})
     select ${PLACE}, lane, ${PERIOD}, 1, coalesce(json_array_length(results), 0) > 0, coalesce(json_array_length(results), 0),
       coalesce(charged_micros, 0), 0, 0, 0, 0, 0
     from task where number = ? ${ADD}`,
  );
}

/** Sums up a task's attempts by provider. Its charge counts once at the first of those with a cost, and where the task was last. */
function prepareAddAttempts(db: Database) {
  return db.prepare<never, [task: number]>(
    `insert into books_day (${COLUMNS}, ${FIGURES.join(", ")})
     select ${PLACE}, spent.provider, ${PERIOD}, 0, 0, 0, 0, cost is not null, coalesce(cost, 0),
       iif(cost is not null and spent.provider = lane, coalesce(charged_micros, 0), 0),
       iif(cost is not null and nth = 1, coalesce(charged_micros, 0), 0), repeats
     from (
       select attempt.provider, sum(cost_micros) as cost,
         count(*) filter (where state = 'ambiguous' and sequence < attempts) as repeats,
         row_number() over (order by sum(cost_micros) is null, attempt.provider) as nth
       from attempt cross join task on task.number = task_number where task_number = ?1 group by attempt.provider
     ) as spent cross join task on task.number = ?1
     where cost is not null or repeats > 0 ${ADD}`,
  );
}

/** An entry of the ledger that becomes part of a sum. */
export interface Entry {
  readonly id: number;
  readonly account_number: number;
  readonly kind: LedgerKind;
  readonly balance: number;
  readonly held: number;
  readonly at: number;
}

/** The sum of a day and a kind. */
export interface Sum extends Omit<Entry, "account_number" | "kind"> {
  readonly entries: number;
}

export const AMOUNTS = "id, balance_delta_micros as balance, held_delta_micros as held, at";

/** Adds a task's ledger entries to the sums of their days and kinds. A sum takes the place of the last entry in it. */
function prepareSumEntries(connection: Pick<Connection, "db" | "onUndone">): (task: number) => void {
  const { db } = connection;
  const labels = prepareLabels(connection);
  const entriesOf = db.prepare<Entry, [task: number]>(
    `select ${AMOUNTS}, account_number, kind from ledger_entry indexed by ledger_entry_once
     where account_number = (select account_number from task where number = ?1) and task_number = ?1`,
  );
  const sumOf = db.prepare<Sum, [account: number, kind: string, at: number]>(
    `select ${AMOUNTS}, entries from ledger_entry indexed by ledger_entry_sum
     where account_number = ? and kind = ? and at / ${DAY_MS} = ? / ${DAY_MS} and entries is not null`,
  );
  const removeEntry = db.prepare<never, [id: number]>("delete from ledger_entry where id = ?");
  const breakSeal = prepareBreakSeal(db);
  const remove = (id: number) => {
    removeEntry.run(id);
    breakSeal("ledger_entry", id);
  };
  const insert = db.prepare<never, (number | string)[]>(
    `insert into ledger_entry (id, account_number, kind, balance_delta_micros, held_delta_micros, at, entries, reason_label, actor_label)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (task) => {
    for (const { account_number, kind, ...own } of entriesOf.all(task)) {
      const before = sumOf.get(account_number, kind, own.at);
      const { id, balance, held, at, entries } =
        before === null ? { ...own, entries: 1 } : added(before, own);
      // The sum gets the id of one of them.
      remove(own.id);
      if (before !== null) remove(before.id);
      insert.run(
        id,
        account_number,
        kind,
        balance,
        held,
        at,
        entries,
        labels.of(SUMMED_UP),
        labels.of(SYSTEM),
      );
    }
  };
}

/** A sum with one more entry. It takes the place of the last entry in it. */
export function added(sum: Sum, entry: Omit<Sum, "entries">): Sum {
  return {
    id: Math.max(sum.id, entry.id),
    balance: sum.balance + entry.balance,
    held: sum.held + entry.held,
    at: Math.max(sum.at, entry.at),
    entries: sum.entries + 1,
  };
}

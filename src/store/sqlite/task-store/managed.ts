import type { Database } from "bun:sqlite";
import type { AccountId, KeyId, LaneId, TaskId } from "../../../domain/ids.ts";
import type { ManagedPage, ManagedTask, ManagedTaskFilter } from "../../../domain/ports/task-store.ts";
import { SUMMARY_COLUMNS, type SummaryRow, toSummary } from "./task-table.ts";

/** A summary with the names that an operator knows its owners by. */
export interface ManagedRow extends SummaryRow {
  readonly key_id: KeyId;
  readonly lane: LaneId;
  readonly account_name: string;
  readonly key_name: string;
}

/** The columns of `ManagedRow`, as SQL. */
export const MANAGED_COLUMNS = `${SUMMARY_COLUMNS}, key_id, lane,
  coalesce((select name from account where account.id = task.account_id), account_id) as account_name,
  coalesce((select name from api_key where api_key.id = task.key_id), key_id) as key_name`;

export function toManagedTask(row: ManagedRow): ManagedTask {
  return {
    ...toSummary(row),
    account: { id: row.account_id, name: row.account_name },
    key: { id: row.key_id, name: row.key_name },
    provider: row.lane,
  };
}

/** Tasks that one page looks at. A filter that few of them match must not hold up whoever else is served. */
export const LOOKED_AT = 5_000;

type Optional = string | null;

/** Returns the body of `TaskStore.managedTasks`. */
export function prepareManagedTasks(db: Database): (filter: ManagedTaskFilter) => ManagedPage {
  const [all, ofAccount] = [prepareList(db, false), prepareList(db, true)];
  return ({ accountId, kind, status, model, limit, after }) => {
    const { floor, list } = accountId === undefined ? all : ofAccount;
    const [account, from] = [accountId ?? null, after ?? null];
    const isFiltered = [kind, status, model].some((each) => each !== undefined);
    const last = isFiltered ? floor.get(account, from)?.id : undefined;
    // One more than asked for shows whether there is another page.
    const rows = list.all(
      ...([account, from, last ?? ""] as const),
      ...([kind ?? null, status ?? null, model ?? null, limit + 1] as const),
    );
    const tasks = rows.slice(0, limit).map(toManagedTask);
    return { tasks, next: rows.length > limit ? tasks.at(-1)?.id : last };
  };
}

/** Statements for the tasks of all accounts by id, or for those of one. Every id sorts before "~". */
function prepareList(db: Database, isOfAccount: boolean) {
  const from = isOfAccount
    ? "from task indexed by task_of_account where account_id = ?1 and id < coalesce(?2, '~')"
    : "from task indexed by sqlite_autoindex_task_1 where ?1 is null and id < coalesce(?2, '~')";
  return {
    /** The last task that a page looks at; null where it can look at all that are left. */
    floor: db.prepare<{ id: TaskId }, [account: AccountId | null, after: Optional]>(
      `select id ${from} order by id desc limit 1 offset ${LOOKED_AT - 1}`,
    ),
    list: db.prepare<
      ManagedRow,
      [AccountId | null, after: Optional, floor: string, Optional, Optional, Optional, limit: number]
    >(
      `select ${MANAGED_COLUMNS} ${from} and id >= ?3
         and (?4 is null or kind = ?4) and (?5 is null or status = ?5) and (?6 is null or model = ?6)
       order by id desc limit ?7`,
    ),
  };
}

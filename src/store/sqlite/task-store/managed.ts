import type { Database } from "bun:sqlite";
import type { KeyId, LaneId } from "../../../domain/ids.ts";
import type { ManagedPage, ManagedTask, ManagedTaskFilter } from "../../../domain/ports/task-store.ts";
import { type FindTasks, prepareList } from "./list.ts";
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

/** Returns the body of `TaskStore.managedTasks`. */
export function prepareManagedTasks(
  db: Database,
  find: FindTasks,
): (filter: ManagedTaskFilter) => ManagedPage {
  const list = prepareList<ManagedRow>(db, find, MANAGED_COLUMNS);
  return (filter) => {
    const { limit } = filter;
    // One more than asked for shows whether there is another page.
    const rows = list({ ...filter, limit: limit + 1 });
    const tasks = rows.slice(0, limit).map(toManagedTask);
    return { tasks, next: rows.length > limit ? tasks.at(-1)?.id : undefined };
  };
}

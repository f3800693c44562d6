import type { KeyId, LaneId } from "../../../domain/ids.ts";
import type {
  FoundTasks,
  ManagedPage,
  ManagedTask,
  ManagedTaskFilter,
  TaskSearch,
} from "../../../domain/ports/task-store.ts";
import type { Connection } from "../connection.ts";
import { textOf } from "../label-table.ts";
import { type FindTasks, prepareRows } from "./list.ts";
import type { SearchTasks } from "./search.ts";
import { named, SUMMARY_COLUMNS, type SummaryRow, toSummary } from "./task-table.ts";

/** A summary with the names that an operator knows its owners by. */
export interface ManagedRow extends SummaryRow {
  readonly key_id: KeyId;
  readonly lane: LaneId;
  readonly account_name: string;
  readonly key_name: string;
}

/** The columns of `ManagedRow`, as SQL. */
export const MANAGED_COLUMNS = `${SUMMARY_COLUMNS}, ${named("key_id")}, lane,
  (select name from account where account.number = account_number) as account_name,
  coalesce((select name from api_key where api_key.id = ${textOf("key_label")}), ${textOf("key_label")}) as key_name`;

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
  { db, read }: Connection,
  find: FindTasks,
  search: SearchTasks,
): (filter: ManagedTaskFilter) => Promise<ManagedPage> {
  const rowsOf = prepareRows<ManagedRow>(db, MANAGED_COLUMNS);
  function list(filter: ManagedTaskFilter): ManagedPage {
    const { limit } = filter;
    // One more than asked for shows whether there is another page.
    const rows = rowsOf(find({ ...filter, limit: limit + 1 }));
    const tasks = rows.slice(0, limit).map(toManagedTask);
    return { tasks, next: rows.length > limit ? tasks.at(-1)?.id : undefined };
  }
  return async (filter) => {
    if (filter.text === undefined) return read(() => list(filter));
    const { rows, next } = await search(filter, filter.text);
    return { tasks: await read(() => rowsOf(rows).map(toManagedTask)), next };
  };
}

/** Returns the body of `TaskStore.search`. */
export function prepareTaskSearch(
  { db, read }: Connection,
  search: SearchTasks,
): (filter: TaskSearch) => Promise<FoundTasks> {
  const rowsOf = prepareRows<SummaryRow>(db, SUMMARY_COLUMNS);
  return async (filter) => {
    const { rows, next } = await search(filter, filter.text);
    return { tasks: await read(() => rowsOf(rows).map(toSummary)), next };
  };
}

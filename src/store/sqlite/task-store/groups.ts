import type { TaskStore } from "../../../domain/ports/task-store.ts";
import { accountNumber } from "../account-store/account-table.ts";
import type { Connection } from "../connection.ts";
import { BEGINS_GROUP, SUMMARY_COLUMNS, type SummaryRow, toSummary } from "./task-table.ts";

/** After every id of a task. */
export const LAST_TASK = "task_~";

/** Returns `TaskStore.groups`. */
export function prepareGroups({ db, read }: Connection): Pick<TaskStore, "groups"> {
  const groups = db.prepare<SummaryRow, [account: string, before: string, limit: number]>(
    `select ${SUMMARY_COLUMNS} from task indexed by task_group
     where account_number = ${accountNumber("?")} and ${BEGINS_GROUP} and id < ? order by id desc limit ?`,
  );
  return {
    groups: async (owner, { limit, after = LAST_TASK }) =>
      read(() => groups.all(owner, after, limit).map(toSummary)),
  };
}

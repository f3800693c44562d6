import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { TaskSummary } from "../../../domain/task/task.ts";
import { accountNumber } from "../../sqlite/account-store/account-table.ts";
import { LAST_TASK } from "../../sqlite/task-store/groups.ts";
import {
  BEGINS_GROUP,
  SUMMARY_COLUMNS,
  type SummaryRow,
  toSummary,
} from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

const GROUPS = statement<SummaryRow, [account: AccountId, before: string, limit: number]>(
  `select ${SUMMARY_COLUMNS} from task
   where account_number = ${accountNumber("$1")} and ${BEGINS_GROUP} and id < $2 order by id desc limit $3`,
);

/** The body of `TaskStore.groups`. */
export async function groups(
  session: Session,
  owner: AccountId,
  { limit, after = LAST_TASK }: { readonly limit: number; readonly after?: TaskId | string | undefined },
): Promise<TaskSummary[]> {
  return (await GROUPS.all(session, owner, after, limit)).map(toSummary);
}

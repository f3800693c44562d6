import type { AccountId, KeyId } from "../../../domain/ids.ts";
import type { ChangeQuery, TaskChange } from "../../../domain/ports/task-store.ts";
import { accountNumber } from "../../sqlite/account-store/account-table.ts";
import { named, SUMMARY_COLUMNS, type SummaryRow, toSummary } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

interface ChangeRow extends SummaryRow {
  readonly change: number;
  readonly key_id: KeyId;
}

// Pollers ask these most, and each continues after what it was told: they see the last write.
const SINCE = statement<ChangeRow, [account: AccountId, after: number, limit: number]>(
  `select ${SUMMARY_COLUMNS}, ${named("key_id")}, change from task
   where account_number = ${accountNumber("$1")} and change > $2 order by change limit $3`,
);
// Those of removed tasks are negative, so that no reader finds them. Each is the end of an index.
const LATEST = statement<{ change: number }, [account: AccountId]>(
  `select greatest(0,
     (select change from task where account_number = ${accountNumber("$1")} order by change desc limit 1),
     (select -change from task where account_number = ${accountNumber("$1")} order by change limit 1)) as change`,
);

/** The body of `TaskStore.changes`. Numbers of one account are in commit order, because who draws one holds the account's row. */
export async function changesSince(
  session: Session,
  { accountId, after, limit }: ChangeQuery,
): Promise<TaskChange[]> {
  const rows = await SINCE.all(session, accountId, after, limit);
  return rows.map((row) => ({ number: row.change, keyId: row.key_id, task: toSummary(row) }));
}

/** The body of `TaskStore.latestChange`. */
export async function latestChange(session: Session, account: AccountId): Promise<number> {
  return (await LATEST.get(session, account))?.change ?? 0;
}

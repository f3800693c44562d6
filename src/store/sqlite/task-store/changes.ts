import type { Database } from "bun:sqlite";
import type { AccountId, KeyId, TaskId } from "../../../domain/ids.ts";
import type { ChangeQuery, TaskChange } from "../../../domain/ports/task-store.ts";
import { ACCOUNT_ID, accountNumber } from "../account-store/account-table.ts";
import { named, SUMMARY_COLUMNS, type SummaryRow, toSummary } from "./task-table.ts";

const OF = accountNumber("?1");

export type Changes = ReturnType<typeof prepareChanges>;

interface ChangeRow extends SummaryRow {
  readonly change: number;
  readonly key_id: KeyId;
}

/**
 * Numbers every change of status and progress in commit order. There is one writer, which keeps the counter in memory. The next
 * process may reuse a number whose write failed, so no number is shown before it is committed.
 */
export function prepareChanges(db: Database) {
  // Those of removed tasks are negative, so that no reader finds them.
  const latestOf = db.prepare<{ change: number }, [account: string]>(
    `select max(coalesce((select max(change) from task indexed by task_change where account_number = ${OF}), 0),
       coalesce((select -min(change) from task indexed by task_change where account_number = ${OF}), 0)) as change`,
  );
  const accountAfter = db.prepare<{ number: number; id: AccountId }, [after: number]>(
    `select account_number as number, ${ACCOUNT_ID} as id from task indexed by task_change
     where account_number > ? order by account_number limit 1`,
  );
  const mark = db.prepare<never, [change: number, id: string]>("update task set change = ? where id = ?");
  const markProgress = db.prepare<never, [change: number, id: string, progress: number]>(
    "update task set change = ? where id = ? and progress < ?",
  );
  const since = db.prepare<ChangeRow, [account: string, after: number, limit: number]>(
    `select ${SUMMARY_COLUMNS}, ${named("key_id")}, change from task indexed by task_change
     where account_number = ${accountNumber("?")} and change > ? order by change limit ?`,
  );
  const latest = (account: AccountId) => latestOf.get(account)?.change ?? 0;

  /** Seeks once for each account, however many tasks there are. */
  function latestOfAll(): number {
    let most = 0;
    for (let at = accountAfter.get(0); at !== null; at = accountAfter.get(at.number))
      most = Math.max(most, latest(at.id));
    return most;
  }

  let last = latestOfAll();
  const next = () => ++last;
  return {
    /** Returns the number of the next change. */
    next,
    latest,
    latestOfAll,
    mark: (id: TaskId) => void mark.run(next(), id),
    /** Marks a task as changed if its progress is lower. */
    markProgress: (id: TaskId, progress: number) => void markProgress.run(next(), id, progress),
    since: ({ accountId, after, limit }: ChangeQuery): TaskChange[] =>
      since
        .all(accountId, after, limit)
        .map((row) => ({ number: row.change, keyId: row.key_id, task: toSummary(row) })),
  };
}

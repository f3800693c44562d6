import type { Database } from "bun:sqlite";
import type { AccountId } from "../../../domain/ids.ts";
import type { ChangeQuery, ManagedChange } from "../../../domain/ports/task-store.ts";
import { accountNumber } from "../account-store/account-table.ts";
import { MANAGED_COLUMNS, type ManagedRow, toManagedTask } from "./managed.ts";

/** The next change of an account that is not told yet. */
interface Head {
  readonly account: AccountId;
  number: number;
}

/**
 * Returns the body of `TaskStore.managedChanges`. Changes are indexed by account, and an index over all of them would cost every
 * task; so this merges those of the accounts, which are few beside their tasks.
 */
export function prepareManagedChanges(db: Database) {
  // One statement, because a call for each account takes ten times as long as the seek.
  const headsAfter = db.prepare<Head, [after: number]>(
    `select account, number from (select id as account, (select change from task indexed by task_change
       where account_number = account.number and change > ?1 order by change limit 1) as number from account)
     where number is not null`,
  );
  const after = db.prepare<{ change: number }, [account: string, after: number]>(
    `select change from task indexed by task_change where account_number = ${accountNumber("?")} and change > ? order by change limit 1`,
  );
  const select = db.prepare<ManagedRow, [account: string, change: number]>(
    `select ${MANAGED_COLUMNS} from task indexed by task_change where account_number = ${accountNumber("?")} and change = ?`,
  );

  return (query: Omit<ChangeQuery, "accountId">): ManagedChange[] => {
    const found: ManagedChange[] = [];
    let heads = headsAfter.all(query.after);
    while (found.length < query.limit && heads.length > 0) {
      const head = heads.reduce((least, each) => (each.number < least.number ? each : least));
      const { account, number } = head;
      for (const row of select.all(account, number)) found.push({ number, task: toManagedTask(row) });
      const next = after.get(account, number);
      if (next === null) heads = heads.filter((each) => each !== head);
      else head.number = next.change;
    }
    return found;
  };
}

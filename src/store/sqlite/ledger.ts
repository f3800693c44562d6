import type { AccountMode } from "../../domain/access/account-terms.ts";
import type { AccountId, TaskId } from "../../domain/ids.ts";
import { holdEntry, type LedgerEntry } from "../../domain/money/ledger.ts";
import { sumMicros } from "../../domain/money/money.ts";
import type { NewTask } from "../../domain/task/task.ts";
import { accountNumber } from "./account-store/account-table.ts";
import type { Connection } from "./connection.ts";
import { AVAILABLE, prepareHolds } from "./holds.ts";
import { prepareLabels } from "./labels.ts";

/** The reason, actor and time of a movement of money. */
export interface Authority {
  readonly reason: string;
  readonly actor: string;
  readonly at: number;
}

export type Ledger = ReturnType<typeof prepareLedger>;

/**
 * The only writer of ledger rows, and of the balances and holds that are their sums. Uses raw statements, because two of every
 * three writes of a task go through here.
 */
export function prepareLedger(connection: Pick<Connection, "db" | "onUndone">) {
  const { db } = connection;
  const append = prepareAppend(connection);
  const holds = prepareHolds(connection);
  // Once the balance suffices again, the next low balance is reported again.
  const move = db.prepare<never, [balance: number, held: number, account: string]>(
    `update account set balance_micros = balance_micros + ?1, held_micros = held_micros + ?2,
       low_balance_told = low_balance_told
         and balance_micros + ?1 - held_micros - ?2 + credit_limit_micros < coalesce(low_balance_micros, 0)
     where id = ?3`,
  );
  const funds = db.prepare<{ mode: AccountMode; available: number }, [account: string]>(
    `select mode, ${AVAILABLE} as available from account where id = ?`,
  );

  return {
    /** Reserves a new task's price, as `prepareHolds` has it. `noteHold` follows, when the task is stored. */
    hold: holds.hold,
    settleHolds: holds.settle,
    /** Writes the row of what `hold` reserved, for the account and the task of these numbers. */
    noteHold({ id, keyId, held: amount, createdAt }: NewTask, account: number, task: number): void {
      if (amount > 0) append.byNumber({ account, task }, holdEntry(id, amount, keyId), createdAt);
    },
    /** Writes the rows and changes the account by their sums. */
    post(account: AccountId, entries: readonly LedgerEntry[], at: number): void {
      if (entries.length === 0) return;
      holds.settle();
      for (const entry of entries) append.byId(account, entry, at);
      const balance = sumMicros(entries.map((entry) => entry.balanceDelta));
      const held = sumMicros(entries.map((entry) => entry.heldDelta));
      if (move.run(balance, held, account).changes !== 1) throw new Error(`There is no account ${account}.`);
    },
    /** Returns what the account can still spend, in micro-units; infinite for an unlimited account. */
    available(account: AccountId): number {
      holds.settle();
      const row = funds.get(account);
      if (row === null) throw new Error(`There is no account ${account}.`);
      return row.mode === "prepaid" ? row.available : Number.POSITIVE_INFINITY;
    },
  };
}

/** Returns functions that write one append-only row. They do not change the account. */
function prepareAppend(connection: Pick<Connection, "db" | "onUndone">) {
  const { db } = connection;
  const labels = prepareLabels(connection);
  const taskNumber = db.prepare<{ number: number }, [id: string]>("select number from task where id = ?");
  const insertFor = (account: string) =>
    db.prepare(
      `insert into ledger_entry (account_number, task_number, kind, balance_delta_micros, held_delta_micros, at, reason_label, actor_label)
       values (${account}, ?, ?, ?, ?, ?, ?, ?)`,
    );
  const [insertById, insertByNumber] = [insertFor(accountNumber("?")), insertFor("?")];
  const numberOf = (id: TaskId): number => {
    const row = taskNumber.get(id);
    if (row === null) throw new Error(`There is no task ${id}.`);
    return row.number;
  };
  const columnsOf = ({ kind, balanceDelta, heldDelta, reason, actor }: LedgerEntry, at: number) =>
    [kind, balanceDelta, heldDelta, at, labels.of(reason), labels.of(actor)] as const;
  return {
    byId(account: AccountId, entry: LedgerEntry, at: number): void {
      const { taskId } = entry;
      insertById.run(account, taskId === undefined ? null : numberOf(taskId), ...columnsOf(entry, at));
    },
    /** Where both numbers are known, nothing is looked up. */
    byNumber({ account, task }: { account: number; task: number }, entry: LedgerEntry, at: number): void {
      insertByNumber.run(account, task, ...columnsOf(entry, at));
    },
  };
}

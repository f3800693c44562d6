import { holdableOf } from "../../domain/access/account.ts";
import type { AccountMode } from "../../domain/access/account-terms.ts";
import type { AccountId, TaskId } from "../../domain/ids.ts";
import { holdEntry, type LedgerEntry } from "../../domain/money/ledger.ts";
import { sumMicros } from "../../domain/money/money.ts";
import type { NewTask } from "../../domain/task/task.ts";
import { accountNumber } from "./account-store/account-table.ts";
import { AVAILABLE, prepareAccountSums } from "./account-sums.ts";
import type { Connection } from "./connection.ts";
import { prepareLabels } from "./labels.ts";

/** The numbers of a task and of its account, and the account's id. */
interface TaskNumbers {
  readonly account: number;
  readonly task: number;
  readonly id: AccountId;
}

export type Ledger = ReturnType<typeof prepareLedger>;

/**
 * The only writer of ledger rows, and of the balances and holds that are their sums. Uses raw statements, because two of every
 * three writes of a task go through here.
 */
export function prepareLedger(connection: Pick<Connection, "db" | "onUndone">) {
  const { db } = connection;
  const append = prepareAppend(connection);
  const sums = prepareAccountSums(connection);
  const funds = db.prepare<{ mode: AccountMode; available: number }, [account: string]>(
    `select mode, ${AVAILABLE} as available from account where id = ?`,
  );
  const move = (account: AccountId, entries: readonly LedgerEntry[]) =>
    sums.move(
      account,
      sumMicros(entries.map((entry) => entry.balanceDelta)),
      sumMicros(entries.map((entry) => entry.heldDelta)),
    );

  return {
    /** Reserves a new task's price, as `prepareAccountSums` has it. `noteHold` follows, when the task is stored. */
    hold: sums.hold,
    /** Writes what `hold` and `end` left, before anything else reads the account. */
    settle: sums.settle,
    /** Writes the row of what `hold` reserved, for the account and the task of these numbers. */
    noteHold({ id, keyId, held: amount, createdAt }: NewTask, account: number, task: number): void {
      if (amount > 0) append.byNumber({ account, task }, holdEntry(id, amount, keyId), createdAt);
    },
    /** Writes the rows of one task's transition, and changes its account by their sums, which `settle` writes. */
    end(of: TaskNumbers, entries: readonly LedgerEntry[], at: number): void {
      if (entries.length === 0) return;
      for (const entry of entries) append.byNumber(of, entry, at);
      move(of.id, entries);
    },
    /** Writes the rows and changes the account by their sums. */
    post(account: AccountId, entries: readonly LedgerEntry[], at: number): void {
      if (entries.length === 0) return;
      for (const entry of entries) append.byId(account, entry, at);
      move(account, entries);
      sums.settle();
    },
    /** Returns what the account can still spend, in micro-units. */
    available(account: AccountId): number {
      sums.settle();
      const row = funds.get(account);
      if (row === null) throw new Error(`There is no account ${account}.`);
      return holdableOf(row);
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

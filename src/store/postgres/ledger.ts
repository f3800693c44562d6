import type { AccountId, TaskId } from "../../domain/ids.ts";
import type { LedgerEntry } from "../../domain/money/ledger.ts";
import { accountNumber } from "../sqlite/account-store/account-table.ts";
import { taskNumber } from "../sqlite/task-store/task-table.ts";
import { asRows, given } from "./given-rows.ts";
import type { Labels } from "./labels.ts";
import { type Session, statement } from "./session.ts";

/** An entry of the ledger as it is stored, without the numbers of its account and task. */
export interface EntryRow {
  readonly task_id: TaskId | null;
  readonly kind: LedgerEntry["kind"];
  readonly balance_delta_micros: number;
  readonly held_delta_micros: number;
  readonly at: number;
  readonly reason_label: number;
  readonly actor_label: number;
}

export type Ledger = ReturnType<typeof createLedger>;

const STORED: { readonly [Name in Exclude<keyof EntryRow, "task_id">]: string } = {
  ...{ kind: "text", balance_delta_micros: "bigint", held_delta_micros: "bigint" },
  ...{ at: "bigint", reason_label: "bigint", actor_label: "bigint" },
};
// The number of each task is looked up by its id. Otherwise the planner chooses a plan that reads all tasks while there are
// few, and keeps it.
const APPEND = statement<never, [rows: string, account: string]>(
  `insert into ledger_entry (account_number, task_number, ${Object.keys(STORED).join(", ")})
     select ${accountNumber("$2")}, number, ${Object.keys(STORED).join(", ")}
     from (select *, ${taskNumber("given.task_id")} as number from ${given("$1", { task_id: "text", ...STORED })} offset 0) as numbered
     where task_id is null or number is not null`,
);

/** Appends entries of tasks that are created by the same statement, as SQL. */
export function appendingOfCreated(rows: string, account: string): string {
  return `insert into ledger_entry (account_number, task_number, ${Object.keys(STORED).join(", ")})
     select ${account}, created.number, ${Object.keys(STORED).join(", ")}
     from ${given(rows, { task_id: "text", ...STORED })} join created on created.id = given.task_id`;
}

// Once the balance suffices again, the next low balance is reported again. Where no money came in, that is at twice the level: what
// tasks hold and give back would otherwise have it reported again and again.
const MOVE = statement<never, [balance: number, held: number, account: string]>(
  `update account set balance_micros = balance_micros + $1::bigint, held_micros = held_micros + $2::bigint,
     low_balance_told = (low_balance_told = 1
       and balance_micros + $1::bigint - held_micros - $2::bigint + credit_limit_micros
         < coalesce(low_balance_micros, 0) * case when $1::bigint > 0 then 1 else 2 end)::int
   where id = $3`,
);

/**
 * The only writer of ledger rows, and of the balances and holds that are their sums. The caller holds the account's row
 * (`Connection.writeFor`).
 */
export function createLedger(labels: Labels) {
  async function rowOf(entry: LedgerEntry, at: number): Promise<EntryRow> {
    const { taskId = null, kind, balanceDelta, heldDelta, reason, actor } = entry;
    const [reasonLabel, actorLabel] = await Promise.all([labels.of(reason), labels.of(actor)]);
    return {
      task_id: taskId,
      kind,
      balance_delta_micros: balanceDelta,
      held_delta_micros: heldDelta,
      at,
      reason_label: reasonLabel,
      actor_label: actorLabel,
    };
  }

  /** Writes append-only rows. Does not change the account. */
  async function append(session: Session, account: AccountId, rows: readonly EntryRow[]): Promise<void> {
    if (rows.length === 0) return;
    const written = await APPEND.run(session, asRows(rows), account);
    if (written !== rows.length) throw new Error(`A task of the account ${account} is not there.`);
  }

  /** Writes rows and changes the account by their sums. */
  async function postRows(session: Session, account: AccountId, rows: readonly EntryRow[]): Promise<void> {
    if (rows.length === 0) return;
    const balance = rows.reduce((sum, row) => sum + row.balance_delta_micros, 0);
    const held = rows.reduce((sum, row) => sum + row.held_delta_micros, 0);
    const [moved] = await Promise.all([
      MOVE.run(session, balance, held, account),
      append(session, account, rows),
    ]);
    if (moved !== 1) throw new Error(`There is no account ${account}.`);
  }

  return {
    /** The row of an entry, which can be made before the transaction begins. */
    rowOf,
    postRows,
    /** Writes entries and changes the account by their sums. */
    async post(session: Session, account: AccountId, entries: readonly LedgerEntry[], at: number) {
      await postRows(session, account, await Promise.all(entries.map((entry) => rowOf(entry, at))));
    },
  };
}

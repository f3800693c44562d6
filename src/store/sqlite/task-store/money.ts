import type { Database } from "bun:sqlite";
import type { AccountId } from "../../../domain/ids.ts";
import type { LedgerEntry } from "../../../domain/money/ledger.ts";
import { sumMicros } from "../../../domain/money/money.ts";

/** Why money moves, who moves it, and when. */
export interface Authority {
  readonly reason: string;
  readonly actor: string;
  readonly at: number;
}

export interface Ledger {
  /** Writes one append-only row; the account is not touched. */
  append(account: AccountId, entry: LedgerEntry, at: number): void;
  /** Writes the rows and moves the account by their sums. */
  post(account: AccountId, entries: readonly LedgerEntry[], at: number): void;
}

/** Raw statements, for two of every three writes of a task go through here. */
export function prepareLedger(db: Database): Ledger {
  const insert = db.prepare<
    never,
    [
      account: string,
      task: string | null,
      kind: string,
      balance: number,
      held: number,
      reason: string,
      at: number,
      actor: string,
    ]
  >(
    `insert into ledger_entry (account_id, task_id, kind, balance_delta_micros, held_delta_micros, reason, at, actor)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // That little is left may be told anew once enough was there again.
  const move = db.prepare<never, [balance: number, held: number, account: string]>(
    `update account set balance_micros = balance_micros + ?1, held_micros = held_micros + ?2,
       low_balance_told = low_balance_told
         and balance_micros + ?1 - held_micros - ?2 + credit_limit_micros < coalesce(low_balance_micros, 0)
     where id = ?3`,
  );

  function append(account: AccountId, entry: LedgerEntry, at: number): void {
    insert.run(
      account,
      entry.taskId ?? null,
      entry.kind,
      entry.balanceDelta,
      entry.heldDelta,
      entry.reason,
      at,
      entry.actor,
    );
  }

  return {
    append,
    post(account, entries, at) {
      if (entries.length === 0) return;
      for (const entry of entries) append(account, entry, at);
      const balance = sumMicros(entries.map((entry) => entry.balanceDelta));
      const held = sumMicros(entries.map((entry) => entry.heldDelta));
      if (move.run(balance, held, account).changes !== 1) throw new Error(`There is no account ${account}.`);
    },
  };
}

import { sql } from "drizzle-orm";
import { integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { AccountId, TaskId } from "../../domain/ids.ts";
import type { LedgerKind } from "../../domain/money/ledger.ts";
import { type Micros, toMicros } from "../../domain/money/money.ts";
import type { StoredLedgerEntry } from "../../domain/ports/account-store.ts";
import { ACCOUNT_ID, micros, numberOfAccount } from "./account-store/account-table.ts";
import { textOf } from "./label-table.ts";

export const ledgerEntry = sqliteTable(
  "ledger_entry",
  {
    id: integer().primaryKey(),
    accountNumber: numberOfAccount(),
    taskNumber: integer("task_number"),
    kind: text().$type<LedgerKind>().notNull(),
    balanceDelta: micros("balance_delta_micros").notNull(),
    heldDelta: micros("held_delta_micros").notNull(),
    at: integer().notNull(),
    reasonLabel: integer("reason_label").notNull(),
    /** The actor: a key's or a token's id, `operator`, or `system`. */
    actorLabel: integer("actor_label").notNull(),
    /** Of how many entries of deleted tasks this one is the sum; null for every other entry. */
    entries: integer(),
  },
  (table) => [
    // Also finds an account's entries. Entries without a task never conflict.
    uniqueIndex("ledger_entry_once").on(table.accountNumber, table.taskNumber, table.kind),
    uniqueIndex("ledger_entry_sum")
      .on(table.accountNumber, table.kind, sql`"at" / 86400000`)
      .where(sql`"entries" is not null`),
  ],
);

export interface LedgerEntryRow {
  readonly id: number;
  readonly account_id: AccountId;
  readonly task_id: TaskId | null;
  readonly entries: number | null;
  readonly kind: LedgerKind;
  readonly balance_delta_micros: Micros;
  readonly held_delta_micros: Micros;
  readonly at: number;
  readonly reason: string;
  readonly actor: string;
}

/** The columns of `LedgerEntryRow`, as SQL. */
export const LEDGER_COLUMNS = `id, ${ACCOUNT_ID} as account_id, kind, balance_delta_micros, held_delta_micros, at, entries,
  (select task.id from task where task.number = task_number) as task_id,
  ${textOf("reason_label")} as reason, ${textOf("actor_label")} as actor`;

export function toLedgerEntry(row: LedgerEntryRow): StoredLedgerEntry {
  return {
    accountId: row.account_id,
    taskId: row.task_id ?? undefined,
    entries: row.entries ?? undefined,
    kind: row.kind,
    balanceDelta: toMicros(row.balance_delta_micros),
    heldDelta: toMicros(row.held_delta_micros),
    reason: row.reason,
    at: row.at,
    actor: row.actor,
  };
}

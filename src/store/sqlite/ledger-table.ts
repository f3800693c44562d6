import { integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { AccountId, TaskId } from "../../domain/ids.ts";
import type { LedgerKind } from "../../domain/money/ledger.ts";
import { toMicros } from "../../domain/money/money.ts";
import type { StoredLedgerEntry } from "../../domain/ports/account-store.ts";
import { account } from "./account-store/account-table.ts";

export const ledgerEntry = sqliteTable(
  "ledger_entry",
  {
    id: integer().primaryKey(),
    accountId: text("account_id")
      .$type<AccountId>()
      .notNull()
      .references(() => account.id),
    taskId: text("task_id").$type<TaskId>(),
    kind: text().$type<LedgerKind>().notNull(),
    balanceDeltaMicros: integer("balance_delta_micros").notNull(),
    heldDeltaMicros: integer("held_delta_micros").notNull(),
    reason: text().notNull(),
    at: integer().notNull(),
    /** The actor: a key's or a token's id, `operator`, or `system`. */
    actor: text().notNull().default("system"),
  },
  (table) => [
    // Also finds an account's entries. Entries without a task never conflict.
    uniqueIndex("ledger_entry_once").on(table.accountId, table.taskId, table.kind),
  ],
);

export function toLedgerEntry(row: typeof ledgerEntry.$inferSelect): StoredLedgerEntry {
  return {
    accountId: row.accountId,
    taskId: row.taskId ?? undefined,
    kind: row.kind,
    balanceDelta: toMicros(row.balanceDeltaMicros),
    heldDelta: toMicros(row.heldDeltaMicros),
    reason: row.reason,
    actor: row.actor,
    at: row.at,
  };
}

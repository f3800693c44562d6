import { integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { TaskId } from "../../domain/ids.ts";
import type { LedgerKind } from "../../domain/money/ledger.ts";
import type { StoredLedgerEntry } from "../../domain/ports/account-store.ts";
import { micros, ofAccount } from "./account-store/account-table.ts";

export const ledgerEntry = sqliteTable(
  "ledger_entry",
  {
    id: integer().primaryKey(),
    accountId: ofAccount(),
    taskId: text("task_id").$type<TaskId>(),
    kind: text().$type<LedgerKind>().notNull(),
    balanceDelta: micros("balance_delta_micros").notNull(),
    heldDelta: micros("held_delta_micros").notNull(),
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

export function toLedgerEntry({ id, taskId, ...row }: typeof ledgerEntry.$inferSelect): StoredLedgerEntry {
  return { ...row, taskId: taskId ?? undefined };
}

import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { KeyId, ModelId } from "../../domain/ids.ts";
import { ofAccount } from "./account-store/account-table.ts";

/** Totals of the tasks that ended on a day; `day` counts from 1970-01-01 UTC. WITHOUT ROWID. */
export const usageDay = sqliteTable(
  "usage_day",
  {
    accountId: ofAccount(),
    day: integer().notNull(),
    keyId: text("key_id").$type<KeyId>().notNull(),
    model: text().$type<ModelId>().notNull(),
    completed: integer().notNull(),
    failed: integer().notNull(),
    cancelled: integer().notNull(),
    outputs: integer().notNull(),
    chargedMicros: integer("charged_micros").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.day, table.keyId, table.model] })],
);

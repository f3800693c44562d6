import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { KeyId } from "../../domain/ids.ts";
import { apiKey } from "./account-store/key-table.ts";

/** What a key with a quota has spent and reserved in a period; `period` is its first day, 0 for all time. WITHOUT ROWID. */
export const keyQuota = sqliteTable(
  "key_quota",
  {
    keyId: text("key_id")
      .$type<KeyId>()
      .notNull()
      .references(() => apiKey.id),
    period: integer().notNull(),
    usedMicros: integer("used_micros").notNull(),
    reservedMicros: integer("reserved_micros").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.keyId, table.period] }),
    check("key_quota_used", sql`${table.usedMicros} >= 0 and ${table.reservedMicros} >= 0`),
  ],
);

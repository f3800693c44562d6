import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { KeyId } from "../../domain/ids.ts";
import { apiKey } from "./account-store/key-table.ts";

/** What a key has chosen for its later requests. A row is written when it chooses, and again whenever it chooses something else. */
export const keyChoice = sqliteTable(
  "key_choice",
  {
    keyId: text("key_id")
      .$type<KeyId>()
      .notNull()
      .references(() => apiKey.id),
    matter: text().notNull(),
    choice: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.matter] })],
);

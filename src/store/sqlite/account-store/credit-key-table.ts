import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { micros, ofAccount } from "./account-table.ts";

/** Credits that were given an idempotency key, so that none counts twice. A row is written with its ledger entry and stays. */
export const creditKey = sqliteTable(
  "credit_key",
  {
    accountId: ofAccount(),
    key: text().notNull(),
    /** The amount and the reason of the credit. The same key with anything else is a mistake. */
    amount: micros("amount_micros").notNull(),
    reason: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.key] })],
);

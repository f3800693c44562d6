import { sql } from "drizzle-orm";
import { check, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Account } from "../../../domain/access/account.ts";
import type { AccountMode } from "../../../domain/access/account-terms.ts";
import type { AccountId } from "../../../domain/ids.ts";
import { toMicros } from "../../../domain/money/money.ts";

export const account = sqliteTable(
  "account",
  {
    id: text().$type<AccountId>().primaryKey(),
    name: text().notNull().unique(),
    mode: text().$type<AccountMode>().notNull(),
    status: text().$type<"active" | "suspended">().notNull(),
    balanceMicros: integer("balance_micros").notNull(),
    heldMicros: integer("held_micros").notNull(),
    createdAt: integer("created_at").notNull(),
    /** How far the balance of a prepaid account may go below zero. */
    creditLimitMicros: integer("credit_limit_micros").notNull().default(0),
    /** Millionths. */
    priceMultiplier: integer("price_multiplier").notNull().default(1_000_000),
    lowBalanceMicros: integer("low_balance_micros"),
    /** Whether the low balance was reported. */
    lowBalanceTold: integer("low_balance_told", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    check("account_held", sql`${table.heldMicros} between 0 and 9007199254740991`),
    check("account_balance", sql`${table.balanceMicros} between -9007199254740991 and 9007199254740991`),
    check(
      "account_prepaid",
      sql`${table.mode} = 'unlimited' or ${table.balanceMicros} - ${table.heldMicros} + ${table.creditLimitMicros} >= 0`,
    ),
  ],
);

export function toAccount(row: typeof account.$inferSelect): Account {
  return {
    id: row.id,
    name: row.name,
    mode: row.mode,
    status: row.status,
    balance: toMicros(row.balanceMicros),
    held: toMicros(row.heldMicros),
    creditLimit: toMicros(row.creditLimitMicros),
    priceMultiplier: row.priceMultiplier,
    lowBalance: row.lowBalanceMicros === null ? undefined : toMicros(row.lowBalanceMicros),
    createdAt: row.createdAt,
  };
}

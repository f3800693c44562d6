import { sql } from "drizzle-orm";
import {
  type AnySQLiteColumn,
  check,
  customType,
  index,
  integer,
  sqliteTable,
  text,
} from "drizzle-orm/sqlite-core";
import type { Account } from "../../../domain/access/account.ts";
import type { AccountMode } from "../../../domain/access/account-terms.ts";
import type { AccountId } from "../../../domain/ids.ts";
import { type Micros, toMicros, ZERO } from "../../../domain/money/money.ts";
import type { RawRow } from "../raw-row.ts";

/** A column of money. */
export const micros = customType<{ data: Micros; driverData: number }>({
  dataType: () => "integer",
  fromDriver: toMicros,
});

const isSet = ({ name }: AnySQLiteColumn) => sql.raw(`"${name}" is not null`);

export const account = sqliteTable(
  "account",
  {
    /** Rows of tasks, files and the ledger refer to it by this number. */
    number: integer().primaryKey(),
    id: text().$type<AccountId>().notNull().unique(),
    name: text().notNull().unique(),
    mode: text().$type<AccountMode>().notNull(),
    status: text().$type<Account["status"]>().notNull(),
    balance: micros("balance_micros").notNull(),
    held: micros("held_micros").notNull(),
    createdAt: integer("created_at").notNull(),
    /** How far the balance of a prepaid account may go below zero. */
    creditLimit: micros("credit_limit_micros").notNull().default(ZERO),
    /** Millionths. */
    priceMultiplier: integer("price_multiplier").notNull().default(1_000_000),
    lowBalance: micros("low_balance_micros"),
    /** Whether the low balance was reported. */
    lowBalanceTold: integer("low_balance_told", { mode: "boolean" }).notNull().default(false),
    /** How long data of its ended tasks is kept, if not as the server's settings say. */
    retainOutputsSec: integer("retain_outputs_sec"),
    retainInputsSec: integer("retain_inputs_sec"),
    retainCallbacksSec: integer("retain_callbacks_sec"),
    retainTasksSec: integer("retain_tasks_sec"),
  },
  (table) => [
    // Accounts that differ from the server's settings, so that others are not looked at.
    index("account_low").on(table.id).where(isSet(table.lowBalance)),
    index("account_retain_outputs").on(table.retainOutputsSec).where(isSet(table.retainOutputsSec)),
    index("account_retain_inputs").on(table.retainInputsSec).where(isSet(table.retainInputsSec)),
    index("account_retain_callbacks").on(table.retainCallbacksSec).where(isSet(table.retainCallbacksSec)),
    index("account_retain_tasks").on(table.retainTasksSec).where(isSet(table.retainTasksSec)),
    check("account_held", sql`${table.held} between 0 and 9007199254740991`),
    check("account_balance", sql`${table.balance} between -9007199254740991 and 9007199254740991`),
    check(
      "account_prepaid",
      sql`${table.mode} = 'unlimited' or ${table.balance} - ${table.held} + ${table.creditLimit} >= 0`,
    ),
  ],
);

/** The column of a row that belongs to an account, where there are many such rows. */
export const numberOfAccount = () =>
  integer("account_number")
    .notNull()
    .references(() => account.number);

/** The number of an account, as SQL; null if there is none. */
export const accountNumber = (id: string): string => `(select number from account where id = ${id})`;

/** The id of the account that a row names by its number, as SQL. */
export const ACCOUNT_ID = "(select id from account where account.number = account_number)";

/** The column of a row that belongs to an account, where there are few. */
export const ofAccount = () =>
  text("account_id")
    .$type<AccountId>()
    .notNull()
    .references(() => account.id);

export type AccountRow = RawRow<typeof account>;

export function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    mode: row.mode,
    status: row.status,
    balance: row.balance_micros,
    held: row.held_micros,
    createdAt: row.created_at,
    creditLimit: row.credit_limit_micros,
    priceMultiplier: row.price_multiplier,
    lowBalance: row.low_balance_micros ?? undefined,
    retainOutputsSec: row.retain_outputs_sec ?? undefined,
    retainInputsSec: row.retain_inputs_sec ?? undefined,
    retainCallbacksSec: row.retain_callbacks_sec ?? undefined,
    retainTasksSec: row.retain_tasks_sec ?? undefined,
  };
}

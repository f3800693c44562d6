import { sql } from "drizzle-orm";
import { bigint, index, pgSequence, pgTable, primaryKey, smallint, text } from "drizzle-orm/pg-core";
import { account as accountOfSqlite } from "../sqlite/account-store/account-table.ts";
import { creditKey as creditKeyOfSqlite } from "../sqlite/account-store/credit-key-table.ts";
import { apiKey as apiKeyOfSqlite } from "../sqlite/account-store/key-table.ts";
import { managementToken as managementTokenOfSqlite } from "../sqlite/account-store/token-table.ts";
import { auditSeal as auditSealOfSqlite } from "../sqlite/audit/seal-table.ts";
import { booksDay as booksDayOfSqlite } from "../sqlite/books-table.ts";
import {
  callbackAttempt as callbackAttemptOfSqlite,
  callback as callbackOfSqlite,
} from "../sqlite/callback-store/callback-table.ts";
import { keyChoice as keyChoiceOfSqlite } from "../sqlite/choice-table.ts";
import { heartbeat as heartbeatOfSqlite } from "../sqlite/heartbeat-table.ts";
import { importMark as importMarkOfSqlite } from "../sqlite/import-table.ts";
import { label as labelOfSqlite } from "../sqlite/label-table.ts";
import { ledgerEntry as ledgerEntryOfSqlite } from "../sqlite/ledger-table.ts";
import { priceOverride as priceOverrideOfSqlite } from "../sqlite/price-table.ts";
import { keyQuota as keyQuotaOfSqlite } from "../sqlite/quota-table.ts";
import { routeTrouble as routeTroubleOfSqlite } from "../sqlite/route-table.ts";
import { searchState as searchStateOfSqlite } from "../sqlite/search-table.ts";
import { consoleSession as consoleSessionOfSqlite } from "../sqlite/session-table.ts";
import { asset as assetOfSqlite } from "../sqlite/task-store/asset-table.ts";
import { attempt as attemptOfSqlite } from "../sqlite/task-store/attempt-table.ts";
import { LIVE, task as taskOfSqlite } from "../sqlite/task-store/task-table.ts";
import { trailEntry as trailEntryOfSqlite } from "../sqlite/trail-table.ts";
import { upload as uploadOfSqlite, uploadTotal as uploadTotalOfSqlite } from "../sqlite/upload-table.ts";
import { usageDay as usageDayOfSqlite } from "../sqlite/usage-table.ts";
import { bytes, mirrored, textByBytes } from "./mirrored.ts";

// A table follows those that it refers to.
export const account = mirrored(accountOfSqlite);
export const apiKey = mirrored(apiKeyOfSqlite);
export const managementToken = mirrored(managementTokenOfSqlite);
export const consoleSession = mirrored(consoleSessionOfSqlite);
export const creditKey = mirrored(creditKeyOfSqlite);
export const label = mirrored(labelOfSqlite);
export const task = mirrored(taskOfSqlite, (column) => {
  const { status, kind, modelLabel, id } = taskOfSqlite;
  return [
    // Finds the live tasks of a filter over all accounts. A seek costs more here than in SQLite, and many keys may have live
    // tasks.
    index("task_live_of_all")
      .on(column(status), column(kind), column(modelLabel), column(id))
      .where(sql.raw(LIVE)),
  ];
});
export const attempt = mirrored(attemptOfSqlite);
export const asset = mirrored(assetOfSqlite);
export const ledgerEntry = mirrored(ledgerEntryOfSqlite, (column) => [
  // Finds a page of an account's entries. Other plans read all of its entries, or those of all accounts.
  index("ledger_entry_of_account").on(
    column(ledgerEntryOfSqlite.accountNumber),
    column(ledgerEntryOfSqlite.id),
  ),
]);
export const keyQuota = mirrored(keyQuotaOfSqlite);
export const keyChoice = mirrored(keyChoiceOfSqlite);
export const booksDay = mirrored(booksDayOfSqlite);
export const callback = mirrored(callbackOfSqlite);
export const callbackAttempt = mirrored(callbackAttemptOfSqlite);
export const heartbeat = mirrored(heartbeatOfSqlite);
export const importMark = mirrored(importMarkOfSqlite);
export const priceOverride = mirrored(priceOverrideOfSqlite);
export const routeTrouble = mirrored(routeTroubleOfSqlite);
export const searchState = mirrored(searchStateOfSqlite);
export const trailEntry = mirrored(trailEntryOfSqlite);
export const upload = mirrored(uploadOfSqlite);
export const auditSeal = mirrored(auditSealOfSqlite);
export const uploadTotal = mirrored(uploadTotalOfSqlite);
export const usageDay = mirrored(usageDayOfSqlite);

/** Found only by its digest. SQLite needs a second table for that, because an insertion there costs less. */
export const idempotency = pgTable(
  "idempotency",
  {
    digest: bytes().primaryKey(),
    fingerprint: textByBytes().notNull(),
    task_id: textByBytes().notNull(),
    held_micros: bigint({ mode: "number" }).notNull(),
    expires_at: bigint({ mode: "number" }).notNull(),
  },
  (table) => [index("idempotency_ended").on(table.expires_at)],
);

/**
 * The latest row of each lane: tasks of one setup that it starts one after the other. The row may be over. Only `claim` writes
 * this table and the turns, in one process at a time.
 */
export const laneRow = pgTable("lane_row", {
  lane: textByBytes().primaryKey(),
  setup: textByBytes().notNull(),
  /** When it began. */
  since: bigint({ mode: "number" }).notNull(),
});

/** For each lane and setup, the account whose task started last. Its next turn comes after all others. */
export const laneTurn = pgTable(
  "lane_turn",
  {
    lane: textByBytes().notNull(),
    setup: textByBytes().notNull(),
    account_number: bigint({ mode: "number" }).notNull(),
    served_at: bigint({ mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.lane, table.setup] })],
);

/** The prompts of tasks, as FTS5 has them in SQLite; see search-store.ts. A row has its task's number, whether the task is there or not. */
export const taskSearch = pgTable(
  "task_search",
  { number: bigint({ mode: "number" }).primaryKey(), terms: text().array().notNull() },
  // Without a list of pending entries, which each search would have to read.
  (table) => [index("task_search_terms").using("gin", table.terms).with({ fastupdate: false })],
);

/** The processes that serve this database. A row is removed when its process stops, or long after its last report. */
export const node = pgTable("node", {
  id: textByBytes().primaryKey(),
  /** The machine's name, unless the operator gave another. */
  name: textByBytes().notNull(),
  role: textByBytes().notNull(),
  version: textByBytes().notNull(),
  started_at: bigint({ mode: "number" }).notNull(),
  /** By the database's clock, as all times of this table. */
  seen_at: bigint({ mode: "number" }).notNull(),
  /** 1 once it takes no new tasks, because it was told to stop. */
  is_draining: smallint().notNull().default(0),
});

/** The progress of a move into this database. It has a row for each table, until all rows have arrived. */
export const moveProgress = pgTable("move_progress", {
  name: textByBytes().primaryKey(),
  /** The key of the last row that has arrived, as JSON. */
  last_key: textByBytes(),
  rows: bigint({ mode: "number" }).notNull(),
  is_done: smallint().notNull(),
});

/** Times in which the ends of tasks were not counted in `usage_day`, of a data folder that was moved here. */
export const uncountedTime = pgTable("uncounted_time", {
  from_at: bigint({ mode: "number" }).primaryKey(),
  until_at: bigint({ mode: "number" }).notNull(),
});

/** How many requests were counted in a minute that is not over yet, for each counted thing. */
export const rateWindow = pgTable("rate_window", {
  name: textByBytes().primaryKey(),
  used: bigint({ mode: "number" }).notNull(),
  ends_at: bigint({ mode: "number" }).notNull(),
});

/** One row, with `number` 1: an id that distinguishes this database from all others, for example in a bucket of files. */
export const cluster = pgTable("cluster", {
  number: bigint({ mode: "number" }).primaryKey(),
  id: textByBytes().notNull(),
});

/**
 * Numbers the changes of tasks. A transaction that draws a number holds the row of the task's account until it commits, so
 * within an account numbers are in commit order.
 */
export const taskChangeNumber = pgSequence("task_change_number");

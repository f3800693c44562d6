import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { account } from "../sqlite/account-store/account-table.ts";
import { creditKey } from "../sqlite/account-store/credit-key-table.ts";
import { apiKey } from "../sqlite/account-store/key-table.ts";
import { managementToken } from "../sqlite/account-store/token-table.ts";
import { booksDay } from "../sqlite/books-table.ts";
import { callback, callbackAttempt } from "../sqlite/callback-store/callback-table.ts";
import { keyChoice } from "../sqlite/choice-table.ts";
import { heartbeat } from "../sqlite/heartbeat-table.ts";
import { importMark } from "../sqlite/import-table.ts";
import { label } from "../sqlite/label-table.ts";
import { ledgerEntry } from "../sqlite/ledger-table.ts";
import { priceOverride } from "../sqlite/price-table.ts";
import { keyQuota } from "../sqlite/quota-table.ts";
import { routeTrouble } from "../sqlite/route-table.ts";
import { consoleSession } from "../sqlite/session-table.ts";
import { asset } from "../sqlite/task-store/asset-table.ts";
import { attempt } from "../sqlite/task-store/attempt-table.ts";
import { idempotency } from "../sqlite/task-store/idempotency-table.ts";
import { task } from "../sqlite/task-store/task-table.ts";
import { trailEntry } from "../sqlite/trail-table.ts";
import { upload, uploadTotal } from "../sqlite/upload-table.ts";
import { usageDay } from "../sqlite/usage-table.ts";

export interface MovedColumn {
  readonly name: string;
  readonly type: "integer" | "text" | "blob";
}

/** A table whose rows are the same in both databases. */
export interface MovedTable {
  readonly name: string;
  readonly columns: readonly MovedColumn[];
  /** The columns by which its rows are read, in this order. */
  readonly key: readonly string[];
}

/** A row by the names of its columns. Bytes are hexadecimal. */
export type MovedRow = Readonly<Record<string, string | number | null>>;
/** The key of a row. */
export type Place = readonly (string | number)[];

export const placeOf = (key: readonly string[], row: MovedRow): Place =>
  key.map((column) => {
    const value = row[column];
    if (value === null || value === undefined) throw new Error(`A key has no ${column}.`);
    return value;
  });

/** The type of a column of a table. */
export function typeIn({ columns }: MovedTable, name: string): MovedColumn["type"] {
  const column = columns.find((each) => each.name === name);
  if (column === undefined) throw new Error(`There is no column ${name}.`);
  return column.type;
}

/** Records of the keys with which creates are repeated. In SQLite a digest may have several records, and the latest counts. */
export const IDEMPOTENCY = "idempotency";

/** The tables of SQLite whose rows move, ordered so that every row follows the rows that it refers to. */
export const MOVED: readonly SQLiteTable[] = [
  ...[account, apiKey, managementToken, consoleSession, creditKey, label, task, attempt, asset, ledgerEntry],
  ...[keyQuota, keyChoice, booksDay, callback, callbackAttempt, heartbeat, importMark, priceOverride],
  ...[routeTrouble, trailEntry, upload, uploadTotal, usageDay, idempotency],
];

/**
 * Every table that moves. Indexes are built by either database: of prompts, when it is served again; and those of records by digest.
 */
export function movedTables(): readonly MovedTable[] {
  return MOVED.map((each) => {
    const table = movedTable(each);
    if (each !== idempotency) return table;
    // Each database finds expired records in its own way. SQLite removes them in the order of its own numbers, which is also
    // the order in which they expire.
    const columns = table.columns.filter(({ name }) => name !== "id");
    return { ...table, columns, key: ["expires_at", "digest"] };
  });
}

function movedTable(table: SQLiteTable): MovedTable {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const own = columns.filter(({ primary }) => primary).map((column) => column.name);
  const [several] = primaryKeys;
  return {
    name,
    columns: columns.map((column) => ({ name: column.name, type: typeOf(column.getSQLType()) })),
    key: several === undefined ? own : several.columns.map((column) => column.name),
  };
}

function typeOf(type: string): MovedColumn["type"] {
  if (type === "integer" || type === "text" || type === "blob") return type;
  throw new Error(`No column of ${type} is moved.`);
}

import { getTableColumns } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { RawRow } from "../sqlite/raw-row.ts";

/** Returns a function that reads a raw row as drizzle reads the one of SQLite: by the names in code, with JSON and booleans. */
export function rowOf<T extends SQLiteTable>(table: T): (row: RawRow<T>) => T["$inferSelect"] {
  const columns = Object.entries(getTableColumns(table));
  return (row) => {
    // Columns have the same names in both databases.
    const stored = row as Readonly<Record<string, unknown>>;
    const fields = columns.map(([field, column]) => {
      const value = stored[column.name];
      return [field, value === null ? null : column.mapFromDriverValue(value)];
    });
    return Object.fromEntries(fields) as T["$inferSelect"];
  };
}

import type { Column } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

/**
 * A row as a raw statement returns it: columns under their SQL names, null for absent, JSON as text, booleans as 0 and 1.
 * Tasks and attempts are read raw, because drizzle's mapping of thirty columns takes five times as long as SQLite's search.
 */
export type RawRow<T extends SQLiteTable> = {
  readonly [Key in keyof T["_"]["columns"] as T["_"]["columns"][Key]["_"]["name"]]: RawValue<
    T["_"]["columns"][Key]
  >;
};

type RawValue<C extends Column> = Stored<C> | (C["_"]["notNull"] extends true ? never : null);

type Stored<C extends Column> = C["_"]["dataType"] extends "json"
  ? string
  : C["_"]["dataType"] extends "boolean"
    ? 0 | 1
    : C["_"]["data"];

/** Reads JSON that this store wrote, so its type is known where it is read. */
export function parse<T>(text: string): T {
  return JSON.parse(text) as T;
}

export function optional<T>(text: string | null): T | undefined {
  return text === null ? undefined : parse<T>(text);
}

/** Writes a value as JSON; null for no value. */
export function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

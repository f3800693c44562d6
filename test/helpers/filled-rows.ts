import { Database, type SQLQueryBindings } from "bun:sqlite";
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";
import fc from "fast-check";
import { MOVED } from "../../src/store/move/tables.ts";

type Value = string | number | Uint8Array;
/** A row of each table, by the names of its columns. */
export type FilledRows = Readonly<Record<string, Readonly<Record<string, Value>>>>;

/** What the rules of a table demand of columns, as far as any value will not do. */
const RULED: Readonly<Record<string, Readonly<Record<string, Value>>>> = {
  account: { mode: "unlimited", balance_micros: -7, held_micros: 9_007_199_254_740_991 },
  task: {
    stage: "submitted",
    pool: "under_way",
    status: "processing",
    callback_terms: '{"events":["failed"]}',
  },
  callback: { state: "pending", pool: "ready", attempts: 2, sends: 3, most_attempts: 7, redeliver: 1 },
  key_quota: { used_micros: 8, reserved_micros: 9 },
  heartbeat: { id: 1 },
};

const text = fc
  .string({ unit: "binary", minLength: 1, maxLength: 40 })
  .map((value) => value.replaceAll("\0", "0"));
const whole = fc.integer({ min: -9_007_199_254_740, max: 9_007_199_254_740 });

function arbitraryOf(column: SQLiteColumn): fc.Arbitrary<Value> {
  if (column.dataType === "boolean") return fc.constantFrom(0, 1);
  if (column.dataType === "json") return text.map((value) => JSON.stringify([{ amount: 3, value }]));
  const type = column.getSQLType();
  if (type === "blob") return fc.uint8Array({ minLength: 16, maxLength: 32 });
  return type === "integer" ? (column.primary ? fc.integer({ min: 1, max: 1e12 }) : whole) : text;
}

/** A row of every table that moves, with a value in every column, and each the only row that others can refer to. */
export function filledRows(): fc.Arbitrary<FilledRows> {
  const tables = MOVED.map((table) => getTableConfig(table));
  const rows = tables.map(({ name, columns }) => {
    const own = Object.fromEntries(columns.map((column) => [column.name, arbitraryOf(column)]));
    return fc.record(own).map((row) => [name, { ...row, ...RULED[name] }] as const);
  });
  return fc.tuple(...rows).map((made) => {
    const all: Record<string, Record<string, Value>> = Object.fromEntries(made);
    for (const { name, foreignKeys } of tables)
      for (const key of foreignKeys) {
        const { columns, foreignTable, foreignColumns } = key.reference();
        const target = all[getTableConfig(foreignTable).name];
        for (const [i, column] of columns.entries())
          Object.assign(all[name] ?? {}, { [column.name]: target?.[foreignColumns[i]?.name ?? ""] });
      }
    return all;
  });
}

/** Writes rows as they are, in the order of their tables. */
export function insertRows(path: string, rows: FilledRows): void {
  using db = new Database(path);
  db.run("pragma foreign_keys = on");
  for (const [table, row] of Object.entries(rows)) {
    const names = Object.keys(row);
    db.query<never, SQLQueryBindings[]>(
      `insert into "${table}" (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`,
    ).run(...Object.values(row));
  }
}

/** All rows of the tables that move, in an order of their own. Numbers that only one database gives are left out. */
export function rowsOf(path: string): Record<string, Readonly<Record<string, unknown>>[]> {
  using db = new Database(path, { readonly: true });
  return Object.fromEntries(MOVED.map((table) => [getTableConfig(table).name, allOf(db, table)]));
}

function allOf(db: Database, table: SQLiteTable): Readonly<Record<string, unknown>>[] {
  const { name, columns } = getTableConfig(table);
  const names = columns
    .map((column) => column.name)
    .filter((column) => name !== "idempotency" || column !== "id");
  return db
    .query<Record<string, unknown>, []>(
      `select ${names.join(", ")} from "${name}" order by ${names.map((_, i) => i + 1).join(", ")}`,
    )
    .all();
}

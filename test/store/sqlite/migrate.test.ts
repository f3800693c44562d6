import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { migrate, migrationStatus } from "../../../src/store/migrate.ts";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations, SchemaError } from "../../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations.ts";
import { temporaryDatabase } from "../../helpers/store.ts";

const ROOM = join(import.meta.dir, "../../../src/store/sqlite");
const modules = await Promise.all(
  Array.from(new Bun.Glob("**/*-table.ts").scanSync(ROOM)).map((path) => import(join(ROOM, path))),
);

let file: ReturnType<typeof temporaryDatabase>;
beforeEach(() => {
  file = temporaryDatabase();
});
afterEach(() => file.remove());

function inDatabase<T>(use: (db: ReturnType<typeof openDatabase>) => T): T {
  const db = openDatabase(file.path);
  try {
    return use(db);
  } finally {
    db.stop();
  }
}

const FIRST = { number: 1, name: "0001_first", sql: "create table a (id integer) strict;" };
const SECOND = {
  number: 2,
  name: "0002_second",
  sql: "create table b (id integer) strict; insert into a values (1);",
};
const tables = () =>
  inDatabase((db) =>
    db.query("select name from sqlite_schema where type = 'table' order by name").values().flat(),
  );

/** All that a database's file says of itself, and every row of it but the times at which migrations were applied. */
function contentsOf(db: Database) {
  const made = db
    .query<{ name: string; type: string }, []>(
      "select type, name, tbl_name, sql from sqlite_schema order by type, name",
    )
    .all();
  const tables = made.filter(({ type, name }) => type === "table" && name !== "schema_migration");
  return {
    made,
    pragmas: ["user_version", "application_id", "auto_vacuum", "page_size"].map((name) =>
      db.query(`pragma ${name}`).get(),
    ),
    applied: db.query("select number, name, checksum from schema_migration order by number").all(),
    rows: tables.map(({ name }) => [name, db.query(`select * from "${name}"`).values()]),
  };
}

describe("migrations", () => {
  test("an empty database gets at once what all of them make one after the other", () => {
    const [atOnce, oneByOne] = [new Database(":memory:"), new Database(":memory:")];
    const names = MIGRATIONS.map(({ name }) => name);
    expect(applyMigrations(atOnce)).toEqual(names);
    expect(applyMigrations(oneByOne, [...MIGRATIONS])).toEqual(names);
    expect(contentsOf(atOnce)).toEqual(contentsOf(oneByOne));
    expect(applyMigrations(atOnce)).toEqual([]);
    const begun = new Database(":memory:");
    applyMigrations(begun, MIGRATIONS.slice(0, 5));
    expect(applyMigrations(begun)).toEqual(names.slice(5));
    expect(contentsOf(begun)).toEqual(contentsOf(oneByOne));
  });

  test("pending ones are applied once, in order", () => {
    expect(inDatabase((db) => applyMigrations(db, [FIRST]))).toEqual(["0001_first"]);
    expect(inDatabase((db) => applyMigrations(db, [FIRST, SECOND]))).toEqual(["0002_second"]);
    expect(inDatabase((db) => applyMigrations(db, [FIRST, SECOND]))).toEqual([]);
    expect(tables()).toEqual(["a", "b", "schema_migration"]);
  });

  test("one that fails is undone whole, those before it stay", () => {
    const failing = { ...SECOND, sql: "create table b (id integer) strict; insert into nowhere values (1);" };
    expect(() => inDatabase((db) => applyMigrations(db, [FIRST, failing]))).toThrow();
    expect(tables()).toEqual(["a", "schema_migration"]);
  });

  test("what is committed after them waits for the disk, whether they failed or not", () => {
    const failing = { ...FIRST, sql: "insert into nowhere values (1);" };
    const synchronous = inDatabase((db) => {
      const read = () => db.query("pragma synchronous").values().flat();
      const before = read();
      expect(() => applyMigrations(db, [failing])).toThrow();
      const afterFailure = read();
      applyMigrations(db, [FIRST]);
      return [before, afterFailure, read()];
    });
    expect(synchronous).toEqual([[2], [2], [2]]);
  });

  test("a database with a newer migration is refused, naming it and the newest known", () => {
    inDatabase((db) => applyMigrations(db, [FIRST, SECOND]));
    const open = () => inDatabase((db) => applyMigrations(db, [FIRST]));
    expect(open).toThrow(SchemaError);
    expect(open).toThrow(/0002_second.*0001_first/);
  });

  test("an applied migration whose text has changed is refused", () => {
    inDatabase((db) => applyMigrations(db, [FIRST]));
    const edited = { ...FIRST, sql: `${FIRST.sql} ` };
    expect(() => inDatabase((db) => applyMigrations(db, [edited]))).toThrow(
      expect.objectContaining({ name: "SchemaError", kind: "edited" }),
    );
  });

  test("the store refuses a database from the future", () => {
    migrate({ path: file.path });
    inDatabase((db) => db.run("insert into schema_migration values (9999, '9999_future', 'x', 0)"));
    expect(() => openStore({ path: file.path })).toThrow(expect.objectContaining({ kind: "newer" }));
    expect(() => migrationStatus({ path: file.path })).toThrow(/9999_future/);
  });

  test("the store refuses pending migrations when told not to apply them", async () => {
    expect(() => openStore({ path: file.path, migrate: false })).toThrow(
      expect.objectContaining({ kind: "pending" }),
    );
    migrate({ path: file.path });
    const store = openStore({ path: file.path, migrate: false });
    expect(store.schema.pending).toEqual([]);
    await store.stop();
  });

  test("the status makes no file and tells what would be done", () => {
    const names = MIGRATIONS.map(({ name }) => name);
    expect(migrationStatus({ path: file.path })).toEqual({ applied: [], pending: names });
    expect(existsSync(file.path)).toBe(false);
    expect(migrate({ path: file.path })).toEqual(names);
    expect(migrationStatus({ path: file.path })).toEqual({ applied: names, pending: [] });
  });

  test("the embedded list is all there is in the folder, in order", () => {
    const folder = join(import.meta.dir, "../../../migrations/sqlite");
    const files = readdirSync(folder).filter((name) => name.endsWith(".sql"));
    expect(MIGRATIONS.map(({ name }) => `${name}.sql`)).toEqual(files.toSorted());
    for (const { name, number } of MIGRATIONS) expect(Number(name.slice(0, 4))).toBe(number);
  });
});

describe("the schema that queries are written against", () => {
  const described = modules
    .flatMap((module) => Object.values(module))
    .filter((each) => is(each, SQLiteTable));

  test("has the tables of a migrated database, all of them strict", () => {
    migrate({ path: file.path });
    const all = inDatabase((db) =>
      db.query<{ name: string; type: string; strict: number }, []>("pragma table_list").all(),
    ).filter(({ name }) => !name.startsWith("sqlite_"));
    expect(all.filter(({ type }) => type === "virtual").map(({ name }) => name)).toEqual(["task_search"]);
    const actual = all.filter(({ type }) => type === "table");
    expect(actual.map(({ name }) => name).toSorted()).toEqual(
      [...described.map(getTableName), "schema_migration", "migration_step"].toSorted(),
    );
    expect(actual.filter(({ strict }) => strict !== 1)).toEqual([]);
  });

  test("is the one that the next migration is compared with", () => {
    const file = readFileSync(join(import.meta.dir, "../../../migrations/sqlite/snapshot.json"), "utf8");
    const { tables } = JSON.parse(file) as { tables: Record<string, { columns: object }> };
    const names = described.map((table) => [
      getTableName(table),
      Object.values(getTableColumns(table)).map((column) => column.name),
    ]);
    const kept = Object.entries(tables).map(([name, { columns }]) => [name, Object.keys(columns)]);
    expect(kept.toSorted()).toEqual(names.toSorted());
  });

  test.each(described.map((table) => [getTableName(table), table] as const))(
    "has the columns of table %s",
    (name, table) => {
      migrate({ path: file.path });
      const actual = inDatabase((db) =>
        db
          .query<{ name: string; type: string; notnull: number; pk: number }, [string]>(
            'select name, lower(type) as type, "notnull", pk from pragma_table_info(?) order by cid',
          )
          .all(name),
      ).map((column) => ({ name: column.name, type: column.type, required: column.notnull === 1 }));
      const expected = Object.values(getTableColumns(table)).map((column) => ({
        name: column.name,
        type: column.getSQLType(),
        required: column.notNull,
      }));
      expect(expected).toEqual(actual);
    },
  );
});

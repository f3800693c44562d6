import { afterEach, beforeEach, expect, test } from "bun:test";
import { openAudit } from "../../../src/store/audit.ts";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase, type TrackingDatabase } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations.ts";
import { fillSecondSchema, PREPAID } from "../../helpers/second-schema.ts";
import { byHand, endOne, micros, NOW, taskId, temporaryDatabase } from "../../helpers/store.ts";

/*
 * 0003 builds the account table anew, which everything else refers to.
 */

let file: ReturnType<typeof temporaryDatabase>;
beforeEach(() => {
  file = temporaryDatabase();
});
afterEach(() => file.remove());

function inDatabase<T>(use: (db: TrackingDatabase) => T): T {
  const db = openDatabase(file.path);
  try {
    return use(db);
  } finally {
    db.stop();
  }
}

function rowsOf(db: TrackingDatabase): Record<string, Record<string, unknown>[]> {
  const tables = db
    .query<{ name: string }, []>(
      "select name from sqlite_schema where type = 'table' and name <> 'schema_migration' order by name",
    )
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => [name, db.query<Record<string, unknown>, []>(`select * from "${name}"`).all()]),
  );
}

test("every row stays as it was, beside the new columns' defaults", () => {
  const before = inDatabase((db) => {
    fillSecondSchema(db);
    return rowsOf(db);
  });
  const after = inDatabase((db) => {
    expect(applyMigrations(db, MIGRATIONS.slice(0, 3))).toEqual(["0003_add_quotas_and_prices"]);
    return rowsOf(db);
  });
  for (const [table, rows] of Object.entries(before)) {
    expect([table, rows.length]).not.toEqual([table, 0]);
    expect(after[table]).toMatchObject(rows);
    expect(after[table]).toHaveLength(rows.length);
  }
  for (const account of after.account ?? []) {
    expect(account).toMatchObject({
      credit_limit_micros: 0,
      price_multiplier: 1_000_000,
      low_balance_micros: null,
      low_balance_told: 0,
    });
  }
  expect(after.ledger_entry?.map(({ actor }) => actor)).toEqual(Array(6).fill("system"));
  expect([after.key_quota, after.price_override]).toEqual([[], []]);
});

test("every reference still leads to its account, and is kept to as before", () => {
  inDatabase((db) => {
    fillSecondSchema(db);
    applyMigrations(db);
    expect(db.query("pragma foreign_key_check").all()).toEqual([]);
    expect(db.query("pragma integrity_check").values()).toEqual([["ok"]]);
    const parents = db
      .query<{ parent: string }, []>(
        `select distinct "table" as parent from sqlite_schema join pragma_foreign_key_list(sqlite_schema.name)
         where sqlite_schema.type = 'table' order by 1`,
      )
      .all();
    expect(parents.map(({ parent }) => parent)).toEqual(["account", "api_key", "callback", "task"]);
    expect(() => db.run("delete from account")).toThrow("FOREIGN KEY");
    expect(() => db.run("update task set account_number = 99 where pool is not null")).toThrow("FOREIGN KEY");
    expect(() => db.run("insert into account select * from account limit 1")).toThrow("UNIQUE");
    expect(() => db.run("update account set held_micros = 60001 where mode = 'prepaid'")).toThrow(
      "account_prepaid",
    );
  });
});

test("the store goes on where it was, and its books add up before and after", async () => {
  inDatabase(fillSecondSchema);
  const store = openStore({ path: file.path });
  const audit = openAudit({ path: file.path });
  expect(await audit.run()).toMatchObject({ rows: { accounts: 2, tasks: 3, liveTasks: 1 }, differences: [] });
  expect(await store.accounts.account(PREPAID)).toMatchObject({
    status: "suspended",
    balance: 60_000,
    held: 40_000,
  });
  await endOne({ ...store }, "completed");
  expect(await store.accounts.account(PREPAID)).toMatchObject({ balance: 20_000, held: 0 });
  const refund = await store.accounts.refund(taskId(1), micros(1), "late", byHand(NOW));
  expect(refund).toMatchObject({ kind: "refunded", amount: 1 });
  expect(await audit.run()).toMatchObject({ rows: { liveTasks: 0 }, differences: [] });
  audit.stop();
  await store.stop();
});

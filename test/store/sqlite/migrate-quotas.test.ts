import { afterEach, beforeEach, expect, test } from "bun:test";
import { openAudit } from "../../../src/store/audit.ts";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase, type TrackingDatabase } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations.ts";
import {
  accountId,
  endOne,
  keyId,
  micros,
  NOW,
  newTask,
  taskId,
  temporaryDatabase,
} from "../../helpers/store.ts";

/*
 * 0003 builds the account table anew, which everything else refers to.
 */

let file: ReturnType<typeof temporaryDatabase>;
beforeEach(() => {
  file = temporaryDatabase();
});
afterEach(() => file.remove());

const [PREPAID, UNLIMITED] = [accountId(1), accountId(2)];

function inDatabase<T>(use: (db: TrackingDatabase) => T): T {
  const db = openDatabase(file.path);
  try {
    return use(db);
  } finally {
    db.stop();
  }
}

/** Rows of every table as the second migration left them: a task that was paid, one that failed, one live. */
function fill(db: TrackingDatabase): void {
  applyMigrations(db, MIGRATIONS.slice(0, 2));
  db.run(`insert into account values
    ('${PREPAID}', 'studio', 'prepaid', 'suspended', 60000, 40000, ${NOW}),
    ('${UNLIMITED}', 'default', 'unlimited', 'active', 0, 0, ${NOW})`);
  db.run(`insert into api_key (id, account_id, name, hash, display, created_at, policy)
    values ('${keyId(1)}', '${PREPAID}', 'web', 'h', 'd', ${NOW}, '{"concurrency":2}')`);
  const { quote, request } = newTask();
  const insert = db.prepare(
    `insert into task (id, callback_url, account_id, key_id, request_id, kind, model, origin, held_micros, created_at, status, stage, pool,
       due_at, lane, route_index, attempts, failures, progress, cancel_requested, completed_at, charged_micros, results,
       quote, request)
     values (?, ?, ?, ?, 'req', 'image', 'sandbox-image', 'o', 40000, ${NOW}, ?, ?, ?, ?, 'sandbox', 0, 0, 0, 0, 0, ?, ?, ?, ?, ?)`,
  );
  const body = [JSON.stringify(quote), JSON.stringify(request)] as const;
  const of = (number: number) =>
    [taskId(number), number === 1 ? "https://example.com" : null, PREPAID, keyId(1)] as const;
  insert.run(
    ...of(1),
    "completed",
    "terminal",
    null,
    null,
    NOW,
    40_000,
    '[{"assetId":"a","type":"image/png"}]',
    ...body,
  );
  insert.run(...of(2), "failed", "terminal", null, null, NOW, 0, "[]", ...body);
  insert.run(...of(3), "pending", "queued", "ready", NOW, null, null, null, ...body);
  db.run(`insert into ledger_entry (account_id, task_id, kind, balance_delta_micros, held_delta_micros, reason, at) values
    ('${PREPAID}', null, 'credit', 100000, 0, 'first credit', ${NOW}),
    ('${PREPAID}', '${taskId(1)}', 'hold', 0, 40000, 'task accepted', ${NOW}),
    ('${PREPAID}', '${taskId(1)}', 'capture', -40000, -40000, 'task completed', ${NOW}),
    ('${PREPAID}', '${taskId(2)}', 'hold', 0, 40000, 'task accepted', ${NOW}),
    ('${PREPAID}', '${taskId(2)}', 'release', 0, -40000, 'task failed', ${NOW}),
    ('${PREPAID}', '${taskId(3)}', 'hold', 0, 40000, 'task accepted', ${NOW})`);
  db.run(`insert into usage_day values ('${PREPAID}', 0, '${keyId(1)}', 'sandbox-image', 1, 1, 0, 1, 40000)`);
  db.run(`insert into attempt (id, task_id, sequence, provider, upstream_model, state, started_at)
    values ('att', '${taskId(1)}', 1, 'sandbox', 'm', 'done', ${NOW})`);
  db.run(
    `insert into asset values ('asset', '${PREPAID}', '${taskId(1)}', 'output', 0, 'x', 1, 'image/png', 1, 1, null, ${NOW})`,
  );
  db.run(
    `insert into callback values ('cb', '${taskId(1)}', 'req', 'https://example.com', 1, 'delivered', ${NOW})`,
  );
  db.run(`insert into callback_attempt values ('cb', 1, ${NOW}, ${NOW}, 'delivered', 200, null)`);
  db.run(`insert into management_token values ('tok', 'ci', 'h', 'd', ${NOW}, null)`);
  db.run(`insert into idempotency values (1, x'00', 'f', '${taskId(1)}', 40000, ${NOW})`);
  db.run("insert into idempotency_index values (x'00', 1)");
  db.run("update idempotency_merge set merged_id = 1");
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
    fill(db);
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
    fill(db);
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
    expect(() => db.run("update task set account_id = 'nobody' where pool is not null")).toThrow(
      "FOREIGN KEY",
    );
    expect(() => db.run("insert into account select * from account limit 1")).toThrow("UNIQUE");
    expect(() => db.run("update account set held_micros = 60001 where mode = 'prepaid'")).toThrow(
      "account_prepaid",
    );
  });
});

test("the store goes on where it was, and its books add up before and after", async () => {
  inDatabase(fill);
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
  const refund = await store.accounts.refund(taskId(1), micros(1), "late", "operator", NOW);
  expect(refund).toMatchObject({ kind: "refunded", amount: 1 });
  expect(await audit.run()).toMatchObject({ rows: { liveTasks: 0 }, differences: [] });
  audit.stop();
  await store.stop();
});

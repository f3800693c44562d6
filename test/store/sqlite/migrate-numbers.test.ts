import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { openAudit } from "../../../src/store/audit.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase, type TrackingDatabase } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations, readMigrationState, SchemaError } from "../../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations.ts";
import {
  accountId,
  assetId,
  attemptId,
  countingTokens,
  keyId,
  lane,
  NOW,
  newTask,
  taskId,
  temporaryDatabase,
} from "../../helpers/store.ts";

/*
 * 0024 has rows name accounts, tasks, keys, models, quotes and the like by number, in steps.
 */

const BEFORE = MIGRATIONS.slice(0, 23);
const AFTER = MIGRATIONS.slice(0, 24);
const OWNERS = [accountId(7), accountId(3)] as const;
const HASHES = [1, 2, 3, 4].map((number) => String(number).repeat(64));
const USED = '{"outputTokens":1}';
const CHARGED = '[{"sku":"image","quantity":1,"amount":40000}]';
const INPUT = { role: "image", param: "image_url", source: { kind: "asset", assetId: assetId(11) } };

/** What a row of a task is made of, by its number; the rest is the same in all. */
const TASKS = [
  { number: 4, owner: OWNERS[0], key: 1, model: "model-a", quote: "shared", status: "completed" },
  { number: 2, owner: OWNERS[1], key: 2, model: "model-b", quote: "shared", status: "failed" },
  { number: 5, owner: OWNERS[0], key: 1, model: "model-a", quote: "own", status: "processing" },
  { number: 9, owner: OWNERS[0], key: 1, model: "model-b", quote: "gone", status: "removed" },
] as const;

/** Rows of every table that is rewritten, as the migrations before left them. */
function fill(db: TrackingDatabase): void {
  applyMigrations(db, BEFORE);
  for (const [i, id] of OWNERS.entries())
    db.run(`insert into account (id, name, mode, status, balance_micros, held_micros, created_at, retain_tasks_sec)
      values ('${id}', 'name ${i}', 'prepaid', 'active', ${[60_000, 0][i]}, ${[40_000, 0][i]}, ${NOW}, ${[86_400, null][i]})`);
  for (const number of [1, 2])
    db.run(`insert into api_key (id, account_id, name, hash, display, created_at)
      values ('${keyId(number)}', '${OWNERS[number - 1]}', 'key ${number}', 'h${number}', 'd', ${NOW})`);
  for (const given of TASKS) addTask(db, given);
  const entry =
    db.prepare(`insert into ledger_entry (account_id, task_id, kind, balance_delta_micros, held_delta_micros, reason, at, actor)
    values (?, ?, ?, ?, ?, ?, ${NOW}, ?)`);
  entry.run(OWNERS[0], null, "credit", 140_000, 0, "invoice 1", "operator");
  for (const number of [4, 5, 9])
    entry.run(OWNERS[0], taskId(number), "hold", 0, 40_000, "task accepted", keyId(1));
  for (const number of [4, 9])
    entry.run(OWNERS[0], taskId(number), "capture", -40_000, -40_000, "task completed", "system");
  entry.run(OWNERS[1], taskId(2), "hold", 0, 40_000, "task accepted", keyId(2));
  entry.run(OWNERS[1], taskId(2), "release", 0, -40_000, "task failed", "system");
  db.run(`insert into usage_day values ('${OWNERS[0]}', 0, '${keyId(1)}', 'model-a', 1, 0, 0, 1, 40000),
    ('${OWNERS[0]}', 0, '${keyId(1)}', 'model-b', 1, 0, 0, 1, 40000), ('${OWNERS[1]}', 0, '${keyId(2)}', 'model-b', 0, 1, 0, 0, 0)`);
  const file = db.prepare(`insert into asset values (?, ?, ?, ?, 0, ?, 7, 'image/png', 3, 4, null, ${NOW})`);
  file.run(assetId(11), OWNERS[0], taskId(4), "input", HASHES[0]!);
  file.run(assetId(12), OWNERS[0], taskId(4), "output", HASHES[1]!);
  file.run(assetId(10), OWNERS[0], taskId(5), "input", HASHES[0]!);
  const attempt =
    db.prepare(`insert into attempt (id, task_id, sequence, provider, upstream_model, state, usage, operation, outputs, started_at)
    values (?, ?, ?, 'sandbox', 'm', ?, ?, '{"id":"x"}', '[{"kind":"remote","ref":1}]', ${NOW})`);
  attempt.run(attemptId(1), taskId(4), 1, "rejected", USED);
  attempt.run(attemptId(2), taskId(4), 2, "done", USED);
  attempt.run(attemptId(3), taskId(5), 1, "accepted", null);
}

function addTask(
  db: TrackingDatabase,
  { number, owner, key, model, quote, status }: (typeof TASKS)[number],
): void {
  const isLive = status === "processing";
  const isGone = status === "removed";
  const { kind, mode, prompt, n, parameters } = newTask().request;
  const inputs = number === 4 ? [INPUT] : [];
  db.prepare(
    `insert into task (id, account_id, key_id, request_id, kind, model, origin, held_micros, created_at, status, stage, pool, due_at,
       lane, route_index, attempts, failures, progress, cancel_requested, completed_at, charged_micros, results, quote, request, change, usage, charge)
     values (?, ?, ?, 'req_${number}', 'image', ?, ?, 40000, ${NOW}, ?, ?, ?, ?, 'sandbox', 0, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    ...[taskId(number), owner, keyId(key), model, isGone ? "" : `http://${model}.example.com`, status],
    ...(isLive ? ["running", "under_way", NOW] : ["terminal", null, null]),
    number === 4 ? 2 : isLive ? 1 : 0,
    ...(isLive
      ? [null, null, null]
      : [NOW, status === "failed" ? 0 : 40_000, status === "failed" ? null : "[0]"]),
    isGone ? "{}" : JSON.stringify({ ...newTask().quote, priceVersion: quote }),
    isGone ? "{}" : JSON.stringify({ kind, model, mode, prompt, n, parameters, inputs }),
    isGone ? -number : number,
    // Two tasks used as much, a third otherwise.
    isGone ? null : number === 5 ? '{"outputTokens":5}' : USED,
    isLive || status === "failed" ? null : CHARGED,
  );
}

/** All tables, rows in their order, and how they are made. */
function contents(db: TrackingDatabase): Record<string, unknown> {
  const tables = db
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' order by name")
    .all();
  const rows = (name: string) => (name === "schema_migration" ? [] : db.query(`select * from ${name}`).all());
  const made = db.query("select type, name, sql from sqlite_schema order by type, name").all();
  return { made, ...Object.fromEntries(tables.map(({ name }) => [name, rows(name)])) };
}

/** Ends the migration at its commit number `at`, as a kill does: nothing of that transaction stays. @returns whether it was reached */
function cutOff(db: TrackingDatabase, at: number): boolean {
  const { run } = db;
  let commits = 0;
  db.run = ((sql: string, ...rest: []) => {
    if (sql === "commit" && ++commits === at) throw new Error("cut off");
    return run.call(db, sql, ...rest);
  }) as typeof run;
  try {
    applyMigrations(db, AFTER);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ message: "cut off" });
    return true;
  } finally {
    db.run = run;
  }
}

describe("a migration in steps", () => {
  test("goes on where it was cut off, wherever that was, and comes to the same", () => {
    using whole = openDatabase(":memory:");
    fill(whole);
    const before = whole.serialize();
    applyMigrations(whole, AFTER);
    let cuts = 1;
    for (; ; cuts++) {
      const file = temporaryDatabase();
      writeFileSync(file.path, before);
      const db = openDatabase(file.path);
      const isCut = cutOff(db, cuts);
      if (isCut) {
        expect(readMigrationState(db, AFTER).pending).toEqual([AFTER[23]!.name]);
        expect(applyMigrations(db, AFTER)).toEqual([AFTER[23]!.name]);
      }
      expect(contents(db)).toEqual(contents(whole));
      expect(db.query("pragma foreign_keys").values()).toEqual([[1]]);
      db.stop();
      file.remove();
      if (!isCut) break;
    }
    expect(cuts).toBeGreaterThan(20);
  });

  test("that has begun keeps the version before from the database", () => {
    using db = openDatabase(":memory:");
    fill(db);
    expect(cutOff(db, 5)).toBe(true);
    expect(() => readMigrationState(db, BEFORE)).toThrow(SchemaError);
    expect(() => readMigrationState(db, BEFORE)).toThrow(AFTER[23]!.name);
  });

  test("leaves an empty log", () => {
    const file = temporaryDatabase();
    const db = openDatabase(file.path);
    fill(db);
    applyMigrations(db, AFTER);
    expect(statSync(`${file.path}-wal`).size).toBe(0);
    db.stop();
    file.remove();
  });

  test("takes large tables by slices, and tells how far it is", () => {
    using db = openDatabase(":memory:");
    const count = 120_000;
    const made = {
      number: 1,
      name: "0001_made",
      sql: "create table a (id integer primary key, twice integer) strict;",
    };
    const steps =
      "-- in steps\n-- for the rows of a\nupdate a set twice = coalesce(twice, 0) + id where id > ?1 and id <= ?2;\n";
    const doubled = {
      number: 2,
      name: "0002_doubled",
      sql: `${steps}--> statement-breakpoint\n${steps.slice(12)}`,
    };
    applyMigrations(db, [made]);
    db.run(`insert into a (id) with recursive n (value) as (select 1 union all select value + 1 from n where value < ${count})
      select value from n`);
    const told: unknown[] = [];
    applyMigrations(db, [made, doubled], (progress) => told.push(progress));
    const at = (step: number, rows: number) => ({
      name: "0002_doubled",
      slice: { step, steps: 2, table: "a", rows, of: count },
    });
    expect(told).toEqual([{ name: "0002_doubled" }, ...[at(1, 0), at(1, 100_000), at(2, 0), at(2, 100_000)]]);
    expect(db.query("select count(*) from a where twice = 2 * id").values()).toEqual([[count]]);
  });
});

describe("rows from before", () => {
  let file: ReturnType<typeof temporaryDatabase>;
  beforeEach(() => {
    file = temporaryDatabase();
    const db = openDatabase(file.path);
    fill(db);
    db.stop();
    migrate({ path: file.path });
  });
  afterEach(() => file.remove());

  test("say what they said", async () => {
    const { tasks, accounts, retention, stop } = openStore({ path: file.path, ids: countingTokens() });
    const { quote, request } = newTask();
    const common = {
      requestId: "req_4",
      origin: "http://model-a.example.com",
      keyId: keyId(1),
      accountId: OWNERS[0],
    };
    expect(await tasks.byId(taskId(4))).toMatchObject({
      ...common,
      usage: { outputTokens: 1 },
      request: { ...request, model: "model-a", inputs: [INPUT] },
      quote: { ...quote, priceVersion: "shared" },
    });
    expect(await tasks.byId(taskId(2))).toMatchObject({
      quote: { ...quote, priceVersion: "shared" },
      accountId: OWNERS[1],
    });
    expect(await tasks.byId(taskId(5))).toMatchObject({
      request: { ...request, model: "model-a", inputs: [] },
      quote: { ...quote, priceVersion: "own" },
      usage: { outputTokens: 5 },
    });
    expect(await tasks.byId(taskId(9))).toBeUndefined();
    expect((await tasks.story(taskId(4)))?.charge).toEqual(JSON.parse(CHARGED));
    expect((await tasks.attempts(taskId(4))).map(({ usage }) => usage)).toEqual([
      { outputTokens: 1 },
      { outputTokens: 1 },
    ]);
    const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);
    expect(ids(await tasks.list({ accountId: OWNERS[0], limit: 9 }))).toEqual([5, 4].map(taskId));
    expect(ids((await tasks.managedTasks({ model: lane("model-b") as never, limit: 9 })).tasks)).toEqual([
      taskId(2),
    ]);
    expect((await tasks.attempts(taskId(4))).map(({ id, outputs }) => [id, outputs])).toEqual([
      [attemptId(1), undefined],
      [attemptId(2), undefined],
    ]);
    expect((await tasks.attempts(taskId(5)))[0]?.outputs).toEqual([{ kind: "remote", ref: 1 }]);
    expect(await tasks.assetById(assetId(12))).toMatchObject({
      sha256: HASHES[1],
      taskId: taskId(4),
      accountId: OWNERS[0],
    });
    expect(await retention.neededContents(HASHES)).toEqual(HASHES.slice(0, 2));
    const entries = await accounts.ledger(OWNERS[0]);
    expect(entries.map(({ kind, taskId: task, reason, actor }) => [kind, task, reason, actor])).toEqual([
      ["credit", undefined, "invoice 1", "operator"],
      ...[4, 5, 9].map((number) => ["hold", taskId(number), "task accepted", keyId(1)]),
      ...[4, 9].map((number) => ["capture", taskId(number), "task completed", "system"]),
    ]);
    expect((await accounts.ledger(OWNERS[1])).map(({ reason }) => reason)).toEqual([
      "task accepted",
      "task failed",
    ]);
    await stop();
  });

  test("add up", async () => {
    const audit = openAudit({ path: file.path });
    expect((await audit.run()).differences).toEqual([]);
    audit.stop();
  });

  test("take one label for what many of them repeat, and none for what one says", () => {
    using db = openDatabase(file.path);
    const quotes = "select count(*) filter (where quote is null), count(distinct quote_label) from task";
    expect(db.query(quotes).values()).toEqual([[3, 1]]);
    expect(db.query("select usage is null, usage_label is null from task order by id").values()).toEqual([
      [1, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ]);
    expect(
      db.query("select count(charge), count(charge_label), count(distinct charge_label) from task").values(),
    ).toEqual([[0, 2, 1]]);
    expect(db.query("select count(usage), count(usage_label) from attempt").values()).toEqual([[0, 2]]);
    expect(db.query("select count(*) from label where text like '{%' or text like '[%'").values()).toEqual([
      [3],
    ]);
  });
});

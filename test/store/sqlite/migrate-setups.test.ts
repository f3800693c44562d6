import { afterEach, beforeEach, expect, test } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations.ts";
import {
  ACCOUNT,
  admit,
  claimOne,
  countingTokens,
  keyId,
  NOW,
  newTask,
  taskId,
  temporaryDatabase,
} from "../../helpers/store.ts";

/*
 * 0015 keeps what a task's upstream has to load for it; of tasks before it, that is not known.
 */

let file: ReturnType<typeof temporaryDatabase>;
beforeEach(() => {
  file = temporaryDatabase();
});
afterEach(() => file.remove());

test("tasks that waited before have no setup, and start in a row of their own", async () => {
  const db = openDatabase(file.path);
  applyMigrations(db, MIGRATIONS.slice(0, 14));
  db.run(`insert into account (id, name, mode, status, balance_micros, held_micros, created_at)
    values ('${ACCOUNT}', 'default', 'unlimited', 'active', 0, 0, ${NOW})`);
  const { quote, request } = newTask();
  const insert = db.prepare(
    `insert into task (id, account_id, key_id, request_id, kind, model, origin, held_micros, created_at, status, stage, pool,
       due_at, lane, route_index, attempts, failures, progress, cancel_requested, quote, request)
     values (?, '${ACCOUNT}', '${keyId(1)}', 'req', 'image', 'sandbox-image', 'o', 0, ${NOW}, 'pending', 'queued', 'ready',
       ${NOW}, 'sandbox', 0, 0, 0, 0, 0, ?, ?)`,
  );
  for (const number of [1, 2]) insert.run(taskId(number), JSON.stringify(quote), JSON.stringify(request));
  db.stop();

  const store = openStore({ path: file.path, ids: countingTokens() });
  await admit(store, { number: 3, setup: "a" });
  const started = [];
  for (let i = 0; i < 3; i++) started.push((await claimOne(store, { limit: 1 })).task);
  expect(started.map(({ id, setup }) => [id, setup])).toEqual([
    [taskId(1), undefined],
    [taskId(2), undefined],
    [taskId(3), "a"],
  ]);
  await store.stop();
});

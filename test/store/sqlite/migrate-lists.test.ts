import { afterEach, beforeEach, expect, test } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations.ts";
import {
  ACCOUNT,
  countingTokens,
  keyId,
  NOW,
  newTask,
  taskId,
  temporaryDatabase,
} from "../../helpers/store.ts";

/*
 * 0016 finds tasks by their status; those from before it too.
 */

let file: ReturnType<typeof temporaryDatabase>;
beforeEach(() => {
  file = temporaryDatabase();
});
afterEach(() => file.remove());

test("tasks from before are listed by their status, and live ones still count", async () => {
  const db = openDatabase(file.path);
  applyMigrations(db, MIGRATIONS.slice(0, 15));
  db.run(`insert into account (id, name, mode, status, balance_micros, held_micros, created_at)
    values ('${ACCOUNT}', 'default', 'unlimited', 'active', 0, 0, ${NOW})`);
  const { quote, request } = newTask();
  const insert = db.prepare(
    `insert into task (id, account_id, key_id, request_id, kind, model, origin, held_micros, created_at, status, stage, pool,
       due_at, lane, route_index, attempts, failures, progress, cancel_requested, quote, request)
     values (?, '${ACCOUNT}', '${keyId(1)}', 'req', 'image', 'sandbox-image', 'o', 0, ${NOW}, ?, ?, ?, ?, 'sandbox', 0, 0, 0, 0, 0, ?, ?)`,
  );
  const body = [JSON.stringify(quote), JSON.stringify(request)] as const;
  insert.run(taskId(1), "failed", "terminal", null, null, ...body);
  insert.run(taskId(2), "pending", "queued", "ready", NOW, ...body);
  insert.run(taskId(3), "failed", "terminal", null, null, ...body);
  db.stop();

  const { tasks, usage, stop } = openStore({ path: file.path, ids: countingTokens() });
  const of = { accountId: ACCOUNT, limit: 9 };
  const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);
  expect(ids(await tasks.list({ ...of, status: "failed" }))).toEqual([taskId(3), taskId(1)]);
  expect(ids(await tasks.list({ ...of, status: "pending" }))).toEqual([taskId(2)]);
  expect(ids((await tasks.managedTasks({ limit: 9, kind: "image" })).tasks)).toEqual([3, 2, 1].map(taskId));
  expect(await usage.liveTasks(ACCOUNT, keyId(1), 9)).toBe(1);
  await stop();
});

import { afterEach, beforeEach, expect, test } from "bun:test";
import { submitted } from "../../../src/domain/task/transition.ts";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations.ts";
import {
  ACCOUNT,
  attemptId,
  claimOne,
  countingTokens,
  keyId,
  NOW,
  newTask,
  taskId,
  temporaryDatabase,
} from "../../helpers/store.ts";

/*
 * 0008 keeps when an upstream took an attempt, 0012 what was seen of it; of attempts before them, that is not known.
 */

let file: ReturnType<typeof temporaryDatabase>;
beforeEach(() => {
  file = temporaryDatabase();
});
afterEach(() => file.remove());

test("a task that was under way before goes on, and its story lacks what was not kept", async () => {
  const db = openDatabase(file.path);
  applyMigrations(db, MIGRATIONS.slice(0, 7));
  db.run(`insert into account (id, name, mode, status, balance_micros, held_micros, created_at)
    values ('${ACCOUNT}', 'default', 'unlimited', 'active', 0, 0, ${NOW})`);
  const { quote, request } = newTask();
  db.prepare(
    `insert into task (id, account_id, key_id, request_id, kind, model, origin, held_micros, created_at, status, stage, pool,
       due_at, lane, route_index, attempts, failures, progress, cancel_requested, started_at, quote, request)
     values ('${taskId(1)}', '${ACCOUNT}', '${keyId(1)}', 'req', 'image', 'sandbox-image', 'o', 0, ${NOW}, 'processing',
       'submitting', 'under_way', ${NOW}, 'sandbox', 0, 1, 0, 0, 0, ${NOW}, ?, ?)`,
  ).run(JSON.stringify(quote), JSON.stringify(request));
  db.run(`insert into attempt (id, task_id, sequence, provider, upstream_model, state, started_at)
    values ('${attemptId(1)}', '${taskId(1)}', 1, 'sandbox', 'm', 'intent', ${NOW})`);
  db.stop();

  const store = openStore({ path: file.path, ids: countingTokens() });
  expect((await store.tasks.story(taskId(1)))?.attempts[0]).toMatchObject({
    ...{ startedAt: NOW, acceptedAt: undefined, madeAt: undefined, considered: undefined, trace: undefined },
  });
  const lease = await claimOne(store);
  await store.tasks.apply(lease, submitted(NOW + 5, attemptId(1), { job: 1 }, NOW + 50));
  expect((await store.tasks.story(taskId(1)))?.attempts[0]?.acceptedAt).toBe(NOW + 5);
  await store.stop();
});

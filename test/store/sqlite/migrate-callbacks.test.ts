import { afterEach, beforeEach, expect, test } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase, type TrackingDatabase } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations.ts";
import {
  ACCOUNT,
  admit,
  callbackId,
  keyId,
  NOW,
  newTask,
  taskId,
  temporaryDatabase,
} from "../../helpers/store.ts";

/*
 * 0004 builds the callback table anew, with what a callback's task says of it, and numbers what tasks there are.
 */

let file: ReturnType<typeof temporaryDatabase>;
beforeEach(() => {
  file = temporaryDatabase();
});
afterEach(() => file.remove());

function inDatabase(use: (db: TrackingDatabase) => void): void {
  const db = openDatabase(file.path);
  try {
    use(db);
  } finally {
    db.stop();
  }
}

/** Ended tasks as the third migration left them, each with a callback that is due, delivered or dead. */
function fill(db: TrackingDatabase): void {
  applyMigrations(db, MIGRATIONS.slice(0, 3));
  db.run(`insert into account (id, name, mode, status, balance_micros, held_micros, created_at)
    values ('${ACCOUNT}', 'default', 'unlimited', 'active', 0, 0, ${NOW})`);
  const { quote, request } = newTask();
  const insert = db.prepare(
    `insert into task (id, account_id, key_id, request_id, kind, model, origin, held_micros, created_at, status, stage,
       lane, route_index, attempts, failures, progress, cancel_requested, completed_at, charged_micros, quote, request)
     values (?, '${ACCOUNT}', '${keyId(3)}', 'req', 'image', 'sandbox-image', 'o', 0, ${NOW}, 'failed', 'terminal',
       'sandbox', 0, 0, 0, 0, 0, ?, 0, ?, ?)`,
  );
  const callback = db.prepare(
    "insert into callback (id, task_id, request_id, url, attempts, state, due_at) values (?, ?, 'req', ?, ?, ?, ?)",
  );
  for (const [number, url, attempts, state, dueAt] of [
    [1, "https://one.example:8443/hook/1?a=b", 2, "due", NOW + 500],
    [2, "http://two.example", 1, "delivered", NOW],
    [3, "https://three.example/", 5, "dead", NOW],
  ] as const) {
    insert.run(taskId(number), NOW + number, JSON.stringify(quote), JSON.stringify(request));
    callback.run(callbackId(number), taskId(number), url, attempts, state, dueAt);
  }
  db.run(`insert into callback_attempt (callback_id, sequence, started_at, ended_at, outcome, http_status)
    values ('${callbackId(1)}', 2, ${NOW}, ${NOW + 9}, 'refused', 500)`);
}

test("callbacks stand where they stood, and know their account, key and host", async () => {
  inDatabase(fill);
  const store = openStore({ path: file.path });
  try {
    const same = { requestId: "req", accountId: ACCOUNT, keyId: keyId(3), isRedeliveryDue: false };
    const list = await store.callbacks.list({ accountId: ACCOUNT, limit: 10 });
    expect(list).toMatchObject([
      { ...same, id: callbackId(3), host: "three.example", state: "failed", attempts: 5, createdAt: NOW + 3 },
      { ...same, id: callbackId(2), host: "two.example", state: "delivered", attempts: 1 },
      {
        ...same,
        id: callbackId(1),
        host: "one.example:8443",
        state: "pending",
        attempts: 2,
        dueAt: NOW + 500,
      },
    ]);
    expect(await store.callbacks.attempts(callbackId(1))).toEqual([
      { sequence: 2, isRedelivery: false, startedAt: NOW, endedAt: NOW + 9, outcome: "refused", status: 500 },
    ]);
    const limits = { total: 9, perAccount: 9, perHost: 9 };
    const claim = (now: number) => store.callbacks.claim({ now, leaseMs: 9, limits, underWay: [] });
    expect(await claim(NOW + 499)).toEqual([]);
    expect(await claim(NOW + 500)).toMatchObject([{ sequence: 3, callback: { attempts: 3 } }]);
  } finally {
    await store.stop();
  }
});

test("tasks are numbered as they were created, and counting goes on after them", async () => {
  inDatabase(fill);
  const store = openStore({ path: file.path });
  try {
    expect(await store.tasks.latestChange(ACCOUNT)).toBe(3);
    await admit(store, { number: 4 });
    const changes = await store.tasks.changes({ accountId: ACCOUNT, after: 0, limit: 9 });
    expect(changes.map(({ number, task }) => [number, task.id])).toEqual([
      [1, taskId(1)],
      [2, taskId(2)],
      [3, taskId(3)],
      [4, taskId(4)],
    ]);
  } finally {
    await store.stop();
  }
  // Also in the next process.
  const later = openStore({ path: file.path });
  expect(await later.tasks.latestChange(ACCOUNT)).toBe(4);
  await later.stop();
});

test("callbacks of before know what they tell of, and have our own form", async () => {
  inDatabase((db) => {
    fill(db);
    applyMigrations(db, MIGRATIONS.slice(0, 26));
  });
  const store = openStore({ path: file.path });
  try {
    const list = await store.callbacks.list({ accountId: ACCOUNT, limit: 10 });
    expect(list.map(({ event, form, mostAttempts }) => [event, form, mostAttempts])).toEqual(
      Array.from({ length: 3 }, () => ["failed", undefined, undefined]),
    );
    expect(await store.callbacks.attempts(callbackId(1))).toHaveLength(1);
    expect(list.map(({ state, attempts }) => [state, attempts])).toEqual([
      ["failed", 5],
      ["delivered", 1],
      ["pending", 2],
    ]);
  } finally {
    await store.stop();
  }
});

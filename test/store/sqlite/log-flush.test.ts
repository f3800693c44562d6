import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { createFlushThread } from "../../../src/app/flush-thread.ts";
import { StorageError } from "../../../src/domain/ports/task-store.ts";
import { openConnection } from "../../../src/store/sqlite/connection.ts";
import type { FlushThread } from "../../../src/store/sqlite/log-flush.ts";
import { taskId, temporaryDatabase } from "../../helpers/store.ts";

/** A thread whose flushes end when the test says so. */
function heldThread() {
  const flushes: PromiseWithResolvers<void>[] = [];
  let isPreferred = true;
  const thread: FlushThread = {
    isPreferred: () => isPreferred,
    flushHere: () => undefined,
    flush() {
      const flush = Promise.withResolvers<void>();
      flushes.push(flush);
      return flush.promise;
    },
    stop() {},
  };
  const leaveToOthers = () => {
    isPreferred = false;
  };
  return { thread, flushes, leaveToOthers };
}

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Notes in `order` that a promise has ended. */
function noting(order: string[], name: string, promise: Promise<unknown> | unknown): Promise<void> {
  return Promise.resolve(promise).then(
    () => void order.push(name),
    (error) => void order.push(`${name}: ${error instanceof StorageError ? error.kind : error}`),
  );
}

/** The thread of the program, which runs, on a disk that is always slow. */
async function slowThread(patienceMs?: number): Promise<FlushThread> {
  const { path, remove } = temporaryDatabase();
  const file = openSync(path, "w");
  const thread = createFlushThread(0, patienceMs);
  const wanted = [thread.isPreferred()];
  thread.flushHere(file);
  wanted.push(thread.isPreferred());
  thread.flushHere(file);
  // One slow flush may be chance.
  expect(wanted).toEqual([false, false]);
  while (!thread.isPreferred()) await turn();
  closeSync(file);
  remove();
  return thread;
}

async function withItems(flushThread: FlushThread, onDamaged?: (error: unknown) => void) {
  const { path, remove } = temporaryDatabase();
  const connection = openConnection({ path, flushThread, onDamaged });
  connection.db.run("create table item (id integer primary key) strict");
  const insert = (id: number) =>
    connection.write(() => connection.db.run("insert into item values (?)", [id]));
  const count = () => connection.db.query("select count(*) from item").values()[0]?.[0];
  return { connection, remove, insert, count };
}

test("writes, and reads of what they wrote, are answered once a flush that began later has ended", async () => {
  const { thread, flushes } = heldThread();
  const { connection, remove, insert, count } = await withItems(thread);
  const order: string[] = [];
  const ends = [noting(order, "first", insert(1))];
  await turn();
  ends.push(noting(order, "read", connection.read(count)));
  ends.push(noting(order, "nothing written", connection.write(count)));
  ends.push(noting(order, "second", insert(3)));
  expect(connection.look(count)).toBe(1);
  await turn();
  ends.push(noting(order, "read again", connection.read(count)));
  await turn();
  expect({ order, flushes: flushes.length }).toEqual({ order: [], flushes: 1 });
  flushes[0]?.resolve();
  await Promise.all(ends.slice(0, 2));
  await turn();
  // The third shares its commit with the second writes, which the first flush may have missed.
  expect({ order, flushes: flushes.length }).toEqual({ order: ["first", "read"], flushes: 2 });
  flushes[1]?.resolve();
  await Promise.all(ends);
  expect(order).toEqual(["first", "read", "nothing written", "second", "read again"]);
  expect(connection.read(count)).toBe(2);
  await connection.stop();
  remove();
});

test("what is read of one task waits for writes that may end it, and for no others", async () => {
  const { thread, flushes } = heldThread();
  const { connection, remove, insert, count } = await withItems(thread);
  const [ended, other] = [taskId(1), taskId(2)];
  const order: string[] = [];
  const ends = [noting(order, "insert", insert(1))];
  await turn();
  expect(connection.readOf(ended, count)).toBe(1);
  ends.push(
    noting(
      order,
      "end",
      connection.write(() => connection.db.run("insert into item values (2)"), { ends: ended }),
    ),
  );
  await turn();
  ends.push(noting(order, "read of it", connection.readOf(ended, count)));
  expect(connection.readOf(other, count)).toBe(2);
  flushes[0]?.resolve();
  await ends[0];
  await turn();
  expect(order).toEqual(["insert"]);
  flushes[1]?.resolve();
  await Promise.all(ends);
  expect(order).toEqual(["insert", "end", "read of it"]);
  await connection.stop();
  remove();
});

test("a commit is flushed that makes the log as long as it was before another process emptied it", async () => {
  const { thread, flushes } = heldThread();
  const { connection, remove, insert } = await withItems(thread);
  const other = new Database(connection.db.filename);
  const emptyLog = () => other.query("pragma wal_checkpoint(truncate)").values();
  for (const id of [1, 2, 3]) {
    emptyLog();
    const inserting = insert(id);
    await turn();
    expect(flushes).toHaveLength(id);
    flushes[id - 1]?.resolve();
    await inserting;
  }
  other.close();
  await connection.stop();
  remove();
});

test("what waits for a flush of the thread is answered in its order when the next one is made here", async () => {
  const { thread, flushes, leaveToOthers } = heldThread();
  const { connection, remove, insert } = await withItems(thread);
  const order: string[] = [];
  const ends = [noting(order, "first", insert(1))];
  await turn();
  ends.push(noting(order, "second", insert(2)));
  await turn();
  leaveToOthers();
  flushes[0]?.resolve();
  await Promise.all(ends);
  await insert(3);
  expect({ order, flushes: flushes.length }).toEqual({ order: ["first", "second"], flushes: 1 });
  await connection.stop();
  remove();
});

test("after a flush that failed nothing is told as stored any more, and it is reported once", async () => {
  const { thread, flushes } = heldThread();
  const damage: unknown[] = [];
  const { connection, remove, insert, count } = await withItems(thread, (error) => damage.push(error));
  const order: string[] = [];
  const ends = [noting(order, "first", insert(1))];
  await turn();
  ends.push(noting(order, "second", insert(3)));
  await turn();
  ends.push(noting(order, "read", connection.read(count)));
  flushes[0]?.reject(new Error("EIO"));
  await Promise.all(ends);
  ends.push(noting(order, "third", insert(5)));
  await Promise.all(ends);
  expect(order.toSorted()).toEqual(["first: damaged", "read: damaged", "second: damaged", "third: damaged"]);
  expect(damage).toHaveLength(1);
  expect(flushes).toHaveLength(1);
  await connection.stop();
  remove();
});

test("a stop waits for the flush under way, and what was committed since is flushed too", async () => {
  const { thread, flushes } = heldThread();
  const { connection, remove, insert } = await withItems(thread);
  const order: string[] = [];
  const ends = [noting(order, "first", insert(1))];
  await turn();
  ends.push(noting(order, "second", insert(3)), noting(order, "stop", connection.stop()));
  await turn();
  expect({ order, flushes: flushes.length }).toEqual({ order: [], flushes: 1 });
  flushes[0]?.resolve();
  await ends[0];
  flushes[1]?.resolve();
  await Promise.all(ends);
  expect(order).toEqual(["first", "second", "stop"]);
  remove();
});

test("the thread flushes thousands of commits, and each write is there", async () => {
  const thread = await slowThread();
  const { connection, remove, insert, count } = await withItems(thread);
  const clients = Array.from({ length: 20 }, async (_, client) => {
    for (let i = 0; i < 100; i++) await insert(client * 1_000 + i);
  });
  await Promise.all(clients);
  expect(await connection.read(count)).toBe(2_000);
  await connection.stop();
  remove();
});

test("after a quick flush the event loop waits a little for the thread's next one", async () => {
  const thread = await slowThread(10_000);
  const { path, remove } = temporaryDatabase();
  writeFileSync(path, new Uint8Array(16 * 2 ** 20));
  const file = openSync(path, "r+");
  let isFlushed = false;
  void thread.flush(file).then(() => {
    isFlushed = true;
  });
  // No turn of the event loop passes meanwhile.
  for (let i = 0; i < 10; i++) await Promise.resolve();
  expect(isFlushed).toBe(true);
  thread.stop();
  closeSync(file);
  remove();
});

test("a thread says why a file cannot be flushed", async () => {
  const thread = await slowThread();
  const noSuchFile = 1_000_000;
  await expect(thread.flush(noSuchFile)).rejects.toThrow("fdatasync failed with error 9.");
  thread.stop();
});

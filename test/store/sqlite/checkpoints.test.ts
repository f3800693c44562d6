import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { copyLog, createLogWait } from "../../../src/store/checkpoint.ts";
import { KEPT_BYTES, LONG_LOG_FRAMES } from "../../../src/store/sqlite/checkpoints.ts";
import { openConnection, openForReading } from "../../../src/store/sqlite/connection.ts";
import { temporaryDatabase } from "../../helpers/store.ts";

/** A log that a reader made long is looked at once a second, and six of them are written at one time. */
setDefaultTimeout(30_000);

/** A page with the header of its frame is 4,120 bytes. */
const LONG_LOG_BYTES = LONG_LOG_FRAMES * 4_120;
/** More than a log may have between checkpoints. */
const LONG_BYTES = 12_000_000;

/** A database whose log a reader has made long. `copies` counts what its thread was asked to copy; `fails` has it fail. */
async function withLongLog({ fails = false, bytes = LONG_BYTES } = {}) {
  const { path, remove } = temporaryDatabase();
  let copies = 0;
  const connection = openConnection({
    path,
    async copyAside() {
      copies += 1;
      if (fails) throw new Error("no memory");
      copyLog({ path });
    },
  });
  await connection.write(() => connection.db.run("create table item (content blob) strict"));
  const reader = openForReading(path);
  reader.run("begin");
  reader.query("select count(*) from item").get();
  for (let i = 0; i < 12; i++) {
    await connection.write(() => connection.db.run(`insert into item values (zeroblob(${bytes / 12}))`));
  }
  const logBytes = () => statSync(`${path}-wal`).size;
  const frames = connection.db.prepare<{ log: number; checkpointed: number }, []>(
    "pragma wal_checkpoint(noop)",
  );
  return {
    ...{ path, connection, logBytes },
    isCopied: () => frames.get()?.checkpointed === frames.get()?.log,
    frames: () => frames.get()?.log,
    copies: () => copies,
    /** What was asked for before, since the machine was slow, counts no more. */
    endReading(): void {
      copies = 0;
      reader.stop();
    },
    async stop() {
      await connection.stop();
      remove();
    },
  };
}

test.concurrent("a log that a reader made long is copied aside once the reader is gone, and its file is overwritten", async () => {
  const { path, connection, logBytes, isCopied, frames, copies, endReading, stop } = await withLongLog();
  const longBytes = logBytes();
  expect(longBytes).toBeGreaterThan(LONG_LOG_BYTES);
  endReading();
  await until(isCopied);
  expect(copies()).toBe(1);
  await connection.write(() => connection.db.run("insert into item values (null)"));
  expect(frames()).toBeLessThan(10);
  expect(logBytes()).toBe(longBytes);
  expect(connection.db.query("select count(*) from item").values()).toEqual([[13]]);
  await connection.stop();
  expect(existsSync(`${path}-wal`)).toBe(false);
  await stop();
});

test.concurrent("of the file of a log that was very long, only a part is kept", async () => {
  const { connection, logBytes, isCopied, endReading, stop } = await withLongLog({ bytes: 2 * KEPT_BYTES });
  expect(logBytes()).toBeGreaterThan(2 * KEPT_BYTES);
  endReading();
  await until(isCopied);
  await connection.write(() => connection.db.run("insert into item values (null)"));
  expect(logBytes()).toBe(KEPT_BYTES);
  await stop();
});

test.concurrent("what the thread cannot copy is copied by the connection itself", async () => {
  const { isCopied, copies, endReading, stop } = await withLongLog({ fails: true });
  endReading();
  await until(isCopied);
  expect(copies()).toBe(1);
  await stop();
});

test.concurrent("while the reader is there, the log stays, and is looked at again", async () => {
  const { connection, isCopied, copies, endReading, stop } = await withLongLog();
  await until(() => copies() === 2);
  expect(isCopied()).toBe(false);
  endReading();
  await until(isCopied);
  expect(connection.db.query("select count(*) from item").values()).toEqual([[12]]);
  await stop();
});

test.concurrent("who reads for long waits until a long log is copied, and then for nothing", async () => {
  const { path, connection, logBytes, isCopied, endReading, stop } = await withLongLog();
  const db = openForReading(path);
  const wait = createLogWait(db);
  const waiting = wait();
  expect(await isOver(waiting)).toBe(false);
  endReading();
  await waiting;
  expect(isCopied()).toBe(true);
  await connection.write(() => connection.db.run("insert into item values (null)"));
  expect(logBytes()).toBeGreaterThan(LONG_LOG_BYTES);
  expect(await isOver(wait())).toBe(true);
  db.stop();
  await stop();
});

test.concurrent("who waited in vain for a long log, since a reader stays, waits no more", async () => {
  const { path, endReading, stop } = await withLongLog();
  const db = openForReading(path);
  const wait = createLogWait(db, 100);
  expect(await isOver(wait())).toBe(false);
  await wait();
  expect(await isOver(wait())).toBe(true);
  endReading();
  db.stop();
  await stop();
});

/** Whether a promise is settled by the next turn. */
async function isOver(promise: Promise<void>): Promise<boolean> {
  let isSettled = false;
  void promise.then(() => {
    isSettled = true;
  });
  await Bun.sleep(0);
  return isSettled;
}

/** Looks again and again; the test's own limit ends it. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(10);
}

import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { copyLog, untilLogIsShort } from "../../../src/store/checkpoint.ts";
import { LONG_LOG_BYTES } from "../../../src/store/sqlite/checkpoints.ts";
import { openConnection, openForReading } from "../../../src/store/sqlite/connection.ts";
import { temporaryDatabase } from "../../helpers/store.ts";

/** More pages than a log may have between checkpoints. */
const LONG_BYTES = 12_000_000;

/** A database whose log a reader has made long. `copies` counts what its thread was asked to copy; `fails` has it fail. */
async function withLongLog({ fails = false } = {}) {
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
    await connection.write(() => connection.db.run(`insert into item values (zeroblob(${LONG_BYTES / 12}))`));
  }
  const logBytes = () => statSync(`${path}-wal`).size;
  return {
    ...{ path, connection, logBytes },
    copies: () => copies,
    endReading: () => reader.stop(),
    async stop() {
      await connection.stop();
      remove();
    },
  };
}

test.concurrent("a log that a reader made long is copied aside and emptied once the reader is gone", async () => {
  const { connection, logBytes, copies, endReading, stop } = await withLongLog();
  expect(logBytes()).toBeGreaterThan(LONG_LOG_BYTES);
  endReading();
  await until(() => logBytes() === 0);
  expect(copies()).toBe(1);
  expect(connection.db.query("select count(*) from item").values()).toEqual([[12]]);
  await stop();
});

test.concurrent("what the thread cannot copy is copied by the connection itself", async () => {
  const { logBytes, copies, endReading, stop } = await withLongLog({ fails: true });
  endReading();
  await until(() => logBytes() === 0);
  expect(copies()).toBe(1);
  await stop();
});

test.concurrent("while the reader is there, the log stays, and is looked at again", async () => {
  const { connection, logBytes, copies, endReading, stop } = await withLongLog();
  await until(() => copies() === 2);
  expect(logBytes()).toBeGreaterThan(LONG_LOG_BYTES);
  endReading();
  await until(() => logBytes() === 0);
  expect(connection.db.query("select count(*) from item").values()).toEqual([[12]]);
  await stop();
});

test.concurrent("who reads for long waits until a long log is emptied, and for nothing where there is none", async () => {
  const { path, logBytes, endReading, stop } = await withLongLog();
  let isOver = false;
  const waiting = untilLogIsShort({ path }).then(() => {
    isOver = true;
  });
  await Bun.sleep(0);
  expect(isOver).toBe(false);
  endReading();
  await waiting;
  expect(logBytes()).toBe(0);
  await untilLogIsShort({ path: `${path}-missing` });
  await stop();
});

/** Looks again and again; the test's own limit ends it. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(10);
}

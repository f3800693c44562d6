import { expect, test } from "bun:test";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { openConnection } from "../../../src/store/sqlite/connection.ts";
import { temporaryDatabase } from "../../helpers/store.ts";

const setting = (db: { query(sql: string): { values(): unknown[][] } }, pragma: string) =>
  db.query(`pragma ${pragma}`).values()[0]?.[0];

test("the connection writes durably, ahead, and with its checks on", async () => {
  const { path, remove } = temporaryDatabase();
  const connection = openConnection({ path });
  const { db } = connection;
  expect({
    journal: setting(db, "journal_mode"),
    synchronous: setting(db, "synchronous"),
    busyTimeout: setting(db, "busy_timeout"),
    foreignKeys: setting(db, "foreign_keys"),
    trustedSchema: setting(db, "trusted_schema"),
    mmap: setting(db, "mmap_size"),
  }).toEqual({
    journal: "wal",
    // The connection itself flushes the log after each commit.
    synchronous: 1,
    busyTimeout: 0,
    foreignKeys: 1,
    trustedSchema: 0,
    mmap: 0,
  });
  await connection.stop();
  remove();
});

test("a checkpoint empties the write-ahead log, and a stop leaves only the database", async () => {
  const { path, remove } = temporaryDatabase();
  const connection = openConnection({ path });
  await connection.write(() => connection.db.run("create table item (id integer) strict"));
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  expect(connection.checkpoint()).toBe(true);
  expect(statSync(`${path}-wal`).size).toBe(0);
  await connection.write(() => connection.db.run("insert into item values (1)"));
  await connection.stop();
  expect(existsSync(`${path}-wal`)).toBe(false);
  const again = openConnection({ path });
  expect(again.db.query("select id from item").values()).toEqual([[1]]);
  await again.stop();
  remove();
});

test("a file that is no database is refused as damaged", () => {
  const { path, remove } = temporaryDatabase();
  writeFileSync(path, "this is not a database, but long enough to be taken for one. ".repeat(100));
  expect(() => openConnection({ path })).toThrow(
    expect.objectContaining({ name: "StorageError", kind: "damaged" }),
  );
  remove();
});

test("a place that does not exist is refused as not writable", () => {
  const { path, remove } = temporaryDatabase();
  expect(() => openConnection({ path: `${path}/missing/svc.db` })).toThrow(
    expect.objectContaining({ name: "StorageError", kind: "read_only" }),
  );
  remove();
});

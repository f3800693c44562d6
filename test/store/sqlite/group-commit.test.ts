import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { StorageError } from "../../../src/domain/ports/task-store.ts";
import { type Connection, openConnection } from "../../../src/store/sqlite/connection.ts";
import { nextTurn } from "../../../src/toolkit/next-turn.ts";
import { temporaryDatabase } from "../../helpers/store.ts";

let file: ReturnType<typeof temporaryDatabase>;
let connection: Connection;
let other: Database;
let damage: unknown[];

beforeEach(() => {
  file = temporaryDatabase();
  damage = [];
  connection = openConnection({ path: file.path, patienceMs: 20, onDamaged: (error) => damage.push(error) });
  connection.db.run("create table item (id integer primary key, text text) strict");
  other = new Database(file.path);
});
afterEach(async () => {
  other.close();
  await connection.stop();
  file.remove();
});

const insert = (id: number, text = "") => connection.db.run("insert into item values (?, ?)", [id, text]);
const seenByOthers = () =>
  other
    .query<{ id: number }, []>("select id from item order by id")
    .all()
    .map(({ id }) => id);
/** Commits seen by another connection: its data_version moves with each. */
const dataVersion = () => other.query("pragma data_version").values()[0]?.[0];

describe("group commit", () => {
  test("all writes of one turn become visible together, and only then do their promises resolve", async () => {
    dataVersion();
    const writes = [1, 2, 3].map((id) => connection.write(() => insert(id)));
    const seenWhenResolved = writes.map((write) => write.then(seenByOthers));
    expect(seenByOthers()).toEqual([]);
    expect(await Promise.all(seenWhenResolved)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  test.each([
    ["few", 7, 2],
    ["many", 8, 1],
  ])("%s writes of a turn (%i) and those of the next one: %i commits", async (_, first, commits) => {
    let seen = dataVersion();
    let counted = 0;
    const noteCommit = () => {
      const now = dataVersion();
      if (now !== seen) counted++;
      seen = now;
    };
    const writing = (ids: number[]) => ids.map((id) => connection.write(() => insert(id)).then(noteCommit));
    const early = writing(Array.from({ length: first }, (_, i) => i));
    await nextTurn();
    await Promise.all([...early, ...writing([100, 101])]);
    expect([counted, seenByOthers().length]).toEqual([commits, first + 2]);
  });

  test("one operation that throws midway is undone alone", async () => {
    const results = await Promise.allSettled([
      connection.write(() => insert(1)),
      connection.write(() => {
        insert(2);
        throw new Error("midway");
      }),
      connection.write(() => insert(3)),
      connection.write(() => insert(1)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
    expect(seenByOthers()).toEqual([1, 3]);
  });

  test("the value of each operation is its own", async () => {
    const values = await Promise.all([connection.write(() => "a"), connection.write(() => 2)]);
    expect(values).toEqual(["a", 2]);
  });

  test("an operation that returns a promise is refused, by the compiler and at run time, and undone", async () => {
    // @ts-expect-error: a transaction body is synchronous
    const write = connection.write(async () => insert(1));
    expect(write).rejects.toThrow(TypeError);
    await write.catch(() => undefined);
    expect(seenByOthers()).toEqual([]);
  });

  test("an operation that returns a promise takes no other with it", async () => {
    const [refused, other] = await Promise.allSettled([
      // @ts-expect-error: a transaction body is synchronous
      connection.write(async () => insert(1)),
      connection.write(() => insert(2)),
    ]);
    expect([refused.status, other.status]).toEqual(["rejected", "fulfilled"]);
    expect(seenByOthers()).toEqual([2]);
  });

  test("a turn that writes nothing commits nothing", async () => {
    await connection.write(() => insert(1));
    const before = dataVersion();
    await connection.write(() => connection.db.query("select * from item").all());
    expect(dataVersion()).toBe(before);
    await connection.write(() => insert(2));
    expect(dataVersion()).not.toBe(before);
  });

  test("a commit that fails rejects every write of its turn", async () => {
    connection.db.run(
      "create table part (item integer references item (id) deferrable initially deferred) strict",
    );
    const results = await Promise.allSettled([
      connection.write(() => insert(1)),
      // The reference is only checked by the commit.
      connection.write(() => connection.db.run("insert into part values (99)")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(seenByOthers()).toEqual([]);
    await connection.write(() => insert(2));
    expect(seenByOthers()).toEqual([2]);
  });

  test("a full disk refuses writes with its name, leaves reading, and heals when space returns", async () => {
    await connection.write(() => insert(1));
    const pages = connection.db.query("pragma page_count").values()[0]?.[0];
    connection.db.run(`pragma max_page_count = ${pages}`);
    const big = "x".repeat(100_000);
    const results = await Promise.allSettled([
      connection.write(() => insert(2, big)),
      connection.write(() => insert(3, big)),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({ status: "rejected", reason: { name: "StorageError", kind: "full" } });
    }
    expect(seenByOthers()).toEqual([1]);
    expect(damage).toEqual([]);
    connection.db.run("pragma max_page_count = 1000000");
    await connection.write(() => insert(3, big));
    expect(seenByOthers()).toEqual([1, 3]);
  });

  test("a database that cannot be written says so", async () => {
    connection.db.run("pragma query_only = 1");
    expect(connection.write(() => insert(1))).rejects.toMatchObject({ kind: "read_only" });
  });

  test("a write too large for a full disk takes no earlier one with it", async () => {
    await connection.write(() => insert(1));
    const pages = connection.db.query("pragma page_count").values()[0]?.[0];
    connection.db.run(`pragma max_page_count = ${pages}`);
    const results = await Promise.allSettled([
      connection.write(() => insert(2)),
      connection.write(() => insert(3, "x".repeat(100_000))),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(seenByOthers()).toEqual([1, 2]);
  });

  test("a database another process holds is busy, not damaged", async () => {
    other.run("begin immediate");
    const refused = await connection.write(() => insert(1)).catch((error) => error);
    expect([refused.name, refused.kind]).toEqual(["StorageError", "busy"]);
    other.run("rollback");
    await connection.write(() => insert(2));
    expect(seenByOthers()).toEqual([2]);
    expect(damage).toEqual([]);
  });

  test("writes that another process holds up are kept, and stored in their order once it lets go", async () => {
    other.run("begin immediate");
    const done: number[] = [];
    const first = connection.write(() => insert(1)).then(() => done.push(1));
    await new Promise((resolve) => setTimeout(resolve, 3));
    const second = connection.write(() => insert(2)).then(() => done.push(2));
    expect(connection.read(() => connection.db.query("select * from item").all())).toEqual([]);
    other.run("rollback");
    await Promise.all([first, second]);
    expect([done, seenByOthers()]).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  test("an owed write outlasts those that a caller waits for, until the store gives up", async () => {
    other.run("begin immediate");
    const owed = connection.write(() => insert(1), { isOwed: true });
    await connection.write(() => insert(2)).catch(() => undefined);
    other.run("rollback");
    await owed;
    expect(seenByOthers()).toEqual([1]);
    other.run("begin immediate");
    const late = connection.write(() => insert(3), { isOwed: true }).catch((error) => error);
    await connection.write(() => insert(4)).catch(() => undefined);
    connection.giveUp();
    expect(await late).toMatchObject({ kind: "busy" });
  });

  test("an outage is told after a second, and ends by itself without any write", async () => {
    const told: string[] = [];
    await connection.stop();
    connection = openConnection({
      path: file.path,
      patienceMs: 20,
      onOutage: ({ kind }) => {
        told.push(kind);
        other.run("rollback");
      },
      onOutageEnded: (lastedMs) => told.push(lastedMs >= 1_000 ? "ended" : `ended after ${lastedMs} ms`),
    });
    other.run("begin immediate");
    jest.useFakeTimers();
    try {
      const write = connection.write(() => insert(1)).catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      jest.advanceTimersByTime(100);
      await write;
      expect(connection.trouble()).toBeUndefined();
      jest.advanceTimersByTime(899);
      expect(told).toEqual([]);
      // It is tried every quarter of a second by now.
      jest.advanceTimersByTime(251);
      expect(told).toEqual(["busy"]);
      expect(connection.trouble()).toMatchObject({ kind: "busy" });
      jest.advanceTimersByTime(250);
    } finally {
      jest.useRealTimers();
    }
    expect(told).toEqual(["busy", "ended"]);
    expect(connection.trouble()).toBeUndefined();
    expect(seenByOthers()).toEqual([]);
  });

  test("a write that changes nothing ends an outage only together with one that does", async () => {
    connection.db.run("pragma user_version = 1");
    dataVersion();
    other.run("begin immediate");
    const nothing = connection.write(() => connection.db.query("select * from item").all(), { isOwed: true });
    await connection.write(() => insert(1)).catch(() => undefined);
    other.run("rollback");
    const before = dataVersion();
    expect(await nothing).toEqual([]);
    expect(dataVersion()).not.toBe(before);
    expect(connection.db.query("pragma user_version").values()).toEqual([[1]]);
  });

  test("damage is told once and refuses every later write", async () => {
    for (let id = 0; id < 500; id++) insert(id, "x".repeat(200));
    await connection.stop();
    // All pages but the one with the schema.
    const bytes = readFileSync(file.path);
    writeFileSync(file.path, bytes.fill(0xff, 4096));
    connection = openConnection({
      path: file.path,
      patienceMs: 20,
      onDamaged: (error) => damage.push(error),
    });
    const [first] = await Promise.allSettled([connection.write(() => insert(1000))]);
    expect(first).toMatchObject({ status: "rejected", reason: { name: "StorageError", kind: "damaged" } });
    expect(damage).toHaveLength(1);
    const later = await connection.write(() => 1).catch((error) => error);
    expect(later).toMatchObject({ kind: "damaged" });
    expect(damage).toHaveLength(1);
  });

  test("damage found by a read refuses every later write, too", async () => {
    for (let id = 0; id < 500; id++) insert(id, "x".repeat(200));
    await connection.stop();
    writeFileSync(file.path, readFileSync(file.path).fill(0xff, 4096));
    connection = openConnection({
      path: file.path,
      patienceMs: 20,
      onDamaged: (error) => damage.push(error),
    });
    const read = () => connection.read(() => connection.db.query("select * from item").all());
    expect(read).toThrow(expect.objectContaining({ kind: "damaged" }));
    expect(damage).toHaveLength(1);
    const later = await connection.write(() => 1).catch((error) => error);
    expect(later).toMatchObject({ kind: "damaged" });
  });

  test("the write-ahead log is copied back once it is a thousand pages long", async () => {
    for (let id = 0; id < 60; id++) await connection.write(() => insert(id, "x".repeat(100_000)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(statSync(`${file.path}-wal`).size).toBeLessThan(8_000_000);
    expect(statSync(file.path).size).toBeGreaterThan(3_000_000);
  });

  test("what was asked for before the stop is written, later writes are refused", async () => {
    const write = connection.write(() => insert(1));
    await connection.stop();
    await write;
    expect(seenByOthers()).toEqual([1]);
    const late = await connection.write(() => insert(2)).catch((error) => error);
    expect(late).toBeInstanceOf(StorageError);
    expect(late).toMatchObject({ kind: "closed" });
  });
});

import { expect, test } from "bun:test";
import { openConnection } from "../../../src/store/sqlite/connection.ts";
import { prepareLabels } from "../../../src/store/sqlite/labels.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";

function open() {
  const connection = openConnection({ path: ":memory:" });
  applyMigrations(connection.db);
  const stored = () =>
    Object.fromEntries(connection.db.query("select text, number from label order by number").values());
  return { ...connection, labels: prepareLabels(connection), stored };
}

test("a text keeps its number", async () => {
  const { write, labels, stored, stop } = open();
  const first = await write(() => [labels.of("a"), labels.of("b"), labels.of("a")]);
  const later = await write(() => [labels.of("b"), labels.of("")]);
  expect([...first, ...later]).toEqual([1, 2, 1, 2, 3]);
  expect(stored()).toEqual({ a: 1, b: 2, "": 3 });
  await stop();
});

test("a number that was given in a write that is undone may be given to another text", async () => {
  const { write, labels, stored, stop } = open();
  const undone = write(() => {
    labels.of("undone");
    throw new Error("undone");
  });
  // In the same transaction, and in the next.
  const beside = write(() => labels.of("beside"));
  expect(undone).rejects.toThrow("undone");
  expect(await beside).toBe(1);
  expect(await write(() => labels.of("undone"))).toBe(2);
  expect(stored()).toEqual({ beside: 1, undone: 2 });
  await stop();
});

test("a text that may never come again gets a number when it does", async () => {
  const { db, write, onUndone, labels, stored, stop } = open();
  const asked = () => write(() => labels.columns("quote"));
  expect(await asked()).toEqual(["quote", null]);
  expect(stored()).toEqual({});
  expect([await asked(), await asked()]).toEqual([
    [null, 1],
    [null, 1],
  ]);
  const afterRestart = prepareLabels({ db, onUndone });
  expect(await write(() => afterRestart.columns("quote"))).toEqual([null, 1]);
  expect(await write(() => labels.columns(null))).toEqual([null, null]);
  await stop();
});

test("a label never changes and never goes", async () => {
  const { db, write, labels, stop } = open();
  await write(() => labels.of("a"));
  expect(() => db.run("update label set text = 'b'")).toThrow("never change");
  expect(() => db.run("delete from label")).toThrow("never removed");
  await stop();
});

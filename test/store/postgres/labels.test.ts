import { expect, test } from "bun:test";
import { createLabels } from "../../../src/store/postgres/labels.ts";
import type { Answer, Parameter } from "../../../src/store/postgres/session.ts";

/** A table of labels, and what was asked of it. */
function fakeTable() {
  const table = new Map<string, number>();
  const asked: Parameter[] = [];
  const state = { isAway: false };
  const rows = (all: readonly Record<string, unknown>[]): Answer => ({ rows: all, count: all.length });
  const ask = async (text: string, [given = null]: readonly Parameter[]) => {
    asked.push(given);
    if (state.isAway) throw new Error("away");
    // Safe: a question has an array of texts.
    if (text.startsWith("select"))
      return rows((given as string[]).map((each) => ({ text: each, number: table.get(each) ?? null })));
    table.set(String(given), table.size + 1);
    return rows([{ number: table.size }]);
  };
  return { aside: { ask }, asked, state };
}

test("texts that wait at one time are asked for by one statement, and each is added once", async () => {
  const table = fakeTable();
  const labels = createLabels(table);
  const numbers = await Promise.all(Array.from({ length: 2_000 }, (_, i) => labels.of(`text ${i % 2}`)));
  expect(new Set(numbers)).toEqual(new Set([1, 2]));
  expect(table.asked).toEqual([["text 0", "text 1"], "text 0", "text 1"]);
});

test("a text that comes while a question is under way is asked for by the next one", async () => {
  const table = fakeTable();
  const labels = createLabels(table);
  const first = labels.columns("a");
  await Promise.resolve();
  await Promise.resolve();
  const others = [labels.columns("b"), labels.columns("c")];
  expect(await Promise.all([first, ...others])).toEqual([
    ["a", null],
    ["b", null],
    ["c", null],
  ]);
  expect(table.asked).toEqual([["a"], ["b", "c"]]);
});

test("a text gets a number the second time that it is asked for, however many ask", async () => {
  const table = fakeTable();
  const labels = createLabels(table);
  const columns = await Promise.all(Array.from({ length: 50 }, () => labels.columns("a")));
  expect(columns.filter(([text]) => text === null).length).toBeGreaterThan(40);
  expect(table.asked).toEqual([["a"], "a"]);
});

test("whoever asked while the database was away is told, and the next question is asked all the same", async () => {
  const table = fakeTable();
  const labels = createLabels(table);
  table.state.isAway = true;
  const refused = await Promise.allSettled([labels.of("a"), labels.of("b")]);
  expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  table.state.isAway = false;
  expect(await labels.of("b")).toBe(1);
});

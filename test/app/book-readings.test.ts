import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBookReadings } from "../../src/app/book-readings.ts";
import { migrateLocal } from "../../src/app/migrate-local.ts";
import { dayOf } from "../../src/domain/day.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import { openStore } from "../../src/store/open.ts";
import { ACCOUNT, addAccount, admit, countingTokens, endOne, micros, NOW } from "../helpers/store.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function database(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-audits-"));
  folders.push(folder);
  migrateLocal({ dataDir: folder }, "up");
  return join(folder, "svc.db");
}

test("two who ask at once get one report, and the next one another", async () => {
  const books = createBookReadings({ path: database() });
  const [first, second] = await Promise.all([books.run(), books.run()]);
  expect(first.differences).toEqual([]);
  expect(second).toBe(first);
  expect(await books.run()).not.toBe(first);
});

test("a database that cannot be read is a failure, after which the next check runs", async () => {
  const path = join(tmpdir(), "svc-audits-none", "svc.db");
  const books = createBookReadings({ path });
  await expect(books.run()).rejects.toThrow();
  await expect(books.run()).rejects.toThrow();
});

test("a stop ends a check that runs, and whoever waits is told", async () => {
  const books = createBookReadings({ path: database() });
  const report = books.run();
  books.stop();
  await expect(report).rejects.toMatchObject({ code: "service_unavailable" });
});

test("checks hold up nothing in this thread", async () => {
  const books = createBookReadings({ path: database() });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await books.run();
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});

test("usage is that of the store, and each question has its own answer", async () => {
  const path = database();
  const store = openStore({ path, ids: countingTokens() });
  await addAccount(store, { id: ACCOUNT });
  for (const [number, model] of [["a"], ["b"], ["b"]].map(([name], i) => [i + 1, name as ModelId] as const)) {
    await admit(store, { number, model });
    await endOne(store, "completed", { cost: micros(7) });
  }
  const books = createBookReadings({ path });
  const days = { from: dayOf(NOW), to: dayOf(NOW) };
  const questions = (["model", "day", "key", "model"] as const).map((by) => ({ ...days, by }));
  const answers = await Promise.all(questions.map(books.report));
  expect(answers).toEqual(await Promise.all(questions.map(store.usage.report)));
  expect(answers[0]!.map(({ model, completed, cost }) => `${model} ${completed} ${cost}`)).toEqual([
    "a 1 7",
    "b 2 14",
  ]);
  expect(answers[3]).toBe(answers[0]!);
  await store.stop();
});

import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBookReadings } from "../../src/app/book-readings.ts";
import { migrateLocal } from "../../src/app/migrate-local.ts";
import { dayOf } from "../../src/domain/day.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import type { AuditDepth } from "../../src/domain/ports/audit.ts";
import { openStore } from "../../src/store/open.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  beginOne,
  countingTokens,
  endOne,
  LANE,
  micros,
  NOW,
} from "../helpers/store.ts";

const keepSeals = async () => {};
const folders: string[] = [];
let restore = () => {};
afterEach(() => {
  restore();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Counts the threads that are begun, and how many run at one time, until the test ends. */
function countThreads() {
  const { Worker: Original } = globalThis;
  let [begun, running, most] = [0, 0, 0];
  globalThis.Worker = class extends Original {
    constructor(...args: ConstructorParameters<typeof Original>) {
      super(...args);
      begun += 1;
      running += 1;
      most = Math.max(most, running);
    }
    override terminate(): void {
      running -= 1;
      super.terminate();
    }
  };
  restore = () => {
    globalThis.Worker = Original;
  };
  return { begun: () => begun, most: () => most };
}

async function database(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "svc-audits-"));
  folders.push(folder);
  await migrateLocal({ dataDir: folder }, "up");
  return join(folder, "svc.db");
}

test("two who ask at once get one report, and the next one another", async () => {
  const books = createBookReadings({ path: await database(), keepSeals });
  const [first, second] = await Promise.all([books.run(), books.run()]);
  expect(first.differences).toEqual([]);
  expect(second).toBe(first);
  expect(await books.run()).not.toBe(first);
});

test("an audit reads at the depth that is asked for, and has the store keep its seals", async () => {
  const path = await database();
  using db = new Database(path);
  db.run(
    "insert into account (number, id, name, mode, status, balance_micros, held_micros, created_at) values (1, 'acc_1', 'x', 'unlimited', 'active', 9, 0, 1)",
  );
  const entry = db.prepare(
    "insert into ledger_entry (id, account_number, kind, balance_delta_micros, held_delta_micros, at, reason_label, actor_label) values (?, 1, 'credit', ?, 0, 1, 1, 1)",
  );
  entry.run(1, 4);
  entry.run(20_000, 5);
  const store = openStore({ path });
  const books = createBookReadings({ path, keepSeals: store.seals.keep });
  const sealedAt = async (depth?: AuditDepth) => (await books.run(depth)).sealed;
  expect(await sealedAt()).toEqual({ depth: "checksums", tasks: 0, ledgerEntries: 0 });
  expect(await sealedAt()).toEqual({ depth: "checksums", tasks: 0, ledgerEntries: 1 });
  expect(await sealedAt("new")).toEqual({ depth: "new", tasks: 0, ledgerEntries: 1 });
  expect(await sealedAt("full")).toEqual({ depth: "full", tasks: 0, ledgerEntries: 0 });
  await store.stop();
});

test("a database that cannot be read is a failure, after which the next check runs", async () => {
  const path = join(tmpdir(), "svc-audits-none", "svc.db");
  const books = createBookReadings({ path, keepSeals });
  await expect(books.run()).rejects.toThrow();
  await expect(books.run()).rejects.toThrow();
});

test("a stop ends a check that runs, and whoever waits is told", async () => {
  const books = createBookReadings({ path: await database(), keepSeals });
  const report = books.run();
  books.stop();
  await expect(report).rejects.toMatchObject({ code: "service_unavailable" });
});

test("what is stored is counted as the store itself has it, also while two questions are read", async () => {
  const path = await database();
  const store = openStore({ path, ids: countingTokens() });
  await addAccount(store, { id: ACCOUNT });
  const admitOne = (number: number) =>
    admit(store, { number, held: micros(10), createdAt: NOW + number, lane: LANE });
  await admitOne(1);
  await beginOne(store);
  await admitOne(2);
  const books = createBookReadings({ path, keepSeals });
  const others = [0, 1].map((day) => books.report({ from: day, to: day, by: "day" }));
  const { lanes, tasks, callbacks, held, assets } = await books.stock();
  expect(lanes).toEqual([{ lane: LANE, queued: 1, oldestAt: NOW + 2, underWay: 1 }]);
  const [{ oldestAt: _, ...load } = {}] = await store.tasks.lanes();
  expect(lanes).toMatchObject([load]);
  expect(tasks.toSorted((a, b) => (a.status < b.status ? -1 : 1))).toMatchObject([
    { status: "pending", count: 1 },
    { status: "processing", count: 1 },
  ]);
  expect(callbacks).toEqual(await store.callbacks.owed());
  expect(held).toBe(micros(20));
  expect(assets).toEqual([]);
  await Promise.all(others);
  await store.stop();
});

test("two questions are read at one time, the others in turn, and each gets its own answer", async () => {
  const books = createBookReadings({ path: await database(), keepSeals });
  const threads = countThreads();
  const questions = Array.from({ length: 4 }, (_, i) => ({ from: i, to: i, by: "day" as const }));
  const order: number[] = [];
  const ended = questions.map((query) => books.report(query).then(() => order.push(query.from)));
  expect(threads.begun()).toBe(2);
  await Promise.all(ended);
  expect(threads.begun()).toBe(4);
  expect(threads.most()).toBe(2);
  expect(order.toSorted()).toEqual(questions.map(({ from }) => from));
});

test("reports of many days for one account hold up neither another account's nor an audit", async () => {
  const books = createBookReadings({ path: await database(), keepSeals });
  const ended: string[] = [];
  const noting = (what: string, reading: Promise<unknown>) => reading.then(() => void ended.push(what));
  const report = (account: number, day: number) =>
    books.report({ accountId: accountId(account), from: day, to: day, by: "day" });
  const many = Array.from({ length: 12 }, (_, day) => noting("many", report(1, day)));
  await Promise.all([noting("other", report(2, 0)), noting("audit", books.run())]);
  expect(ended.filter((each) => each === "many").length).toBeLessThanOrEqual(6);
  books.stop();
  await Promise.allSettled(many);
});

test("a reading that fails gives its place to the next", async () => {
  const books = createBookReadings({ path: join(tmpdir(), "svc-audits-none", "svc.db"), keepSeals });
  const questions = Array.from({ length: 3 }, (_, i) => ({ from: i, to: i, by: "day" as const }));
  const ends = await Promise.allSettled(questions.map(books.report));
  expect(ends.map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
});

test("after a reading, its slot rests before the next one begins", async () => {
  const books = createBookReadings({ path: await database(), keepSeals });
  const threads = countThreads();
  await books.stock();
  const next = books.stock();
  expect(threads.begun()).toBe(1);
  await next;
  expect(threads.begun()).toBe(2);
});

test("a stop refuses those that wait, begins none of them, and refuses later ones", async () => {
  const books = createBookReadings({ path: await database(), keepSeals });
  const threads = countThreads();
  const questions = Array.from({ length: 5 }, (_, i) => ({ from: i, to: i, by: "day" as const }));
  const ends = questions.map(books.report);
  books.stop();
  const refused = { status: "rejected", reason: { code: "service_unavailable" } };
  expect(await Promise.allSettled([...ends, books.run()])).toMatchObject(Array(6).fill(refused));
  expect(threads.begun()).toBe(2);
});

test("checks hold up nothing in this thread", async () => {
  const books = createBookReadings({ path: await database(), keepSeals });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await books.run();
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});

test("usage is that of the store, and each question has its own answer", async () => {
  const path = await database();
  const store = openStore({ path, ids: countingTokens() });
  await addAccount(store, { id: ACCOUNT });
  for (const [number, model] of [["a"], ["b"], ["b"]].map(([name], i) => [i + 1, name as ModelId] as const)) {
    await admit(store, { number, model });
    await endOne(store, "completed", { cost: micros(7) });
  }
  const books = createBookReadings({ path, keepSeals });
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

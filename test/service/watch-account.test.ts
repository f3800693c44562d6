import { afterEach, beforeEach, expect, test } from "bun:test";
import type { TaskFeed } from "../../src/domain/ports/runtime.ts";
import type { ChangeQuery, TaskStore } from "../../src/domain/ports/task-store.ts";
import { snoozed } from "../../src/domain/task/transition.ts";
import { createTaskFeed } from "../../src/runtime/signals.ts";
import { type ChangePage, type ChangePages, createChangePages } from "../../src/service/task-changes.ts";
import { watchAccount } from "../../src/service/watch-account.ts";
import type { Store } from "../../src/store/open.ts";
import { fakeClock } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { PRINCIPAL } from "../helpers/principal.ts";
import { ACCOUNT, accountId, addAccount, admit, beginOne, endOne, NOW, taskId } from "../helpers/store.ts";

let store: Store;
let pages: ChangePages;
let clock: ReturnType<typeof fakeClock>;
let feed: TaskFeed;
let listening: number;
let queries: ChangeQuery[];
let leaving: AbortController;

beforeEach(async () => {
  store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  await addAccount(store, { id: accountId(2) });
  clock = fakeClock();
  leaving = new AbortController();
  listening = 0;
  queries = [];
  const tasks: TaskStore = {
    ...store.tasks,
    changes(query) {
      queries.push(query);
      return store.tasks.changes(query);
    },
  };
  pages = createChangePages({ tasks, clock });
  const channel = createTaskFeed();
  feed = {
    ...channel,
    subscribeAccount(id, listener) {
      listening += 1;
      const unsubscribe = channel.subscribeAccount(id, listener);
      return () => {
        listening -= 1;
        unsubscribe();
      };
    },
  };
});
afterEach(() => store.stop());

const settle = () => new Promise((resolve) => setImmediate(resolve));
const tell = () => feed.publish({ id: taskId(1), accountId: ACCOUNT }, false);

async function* changesOf(told: AsyncGenerator<ChangePage, void, undefined>) {
  for await (const { changes } of told) yield* changes;
}

async function watch(seen?: number) {
  const after = await pages.start(ACCOUNT, seen);
  const changes = changesOf(
    watchAccount({ pages, feed, clock }, PRINCIPAL, { after, signal: leaving.signal }),
  );
  const next = async () => {
    const { value } = await changes.next();
    return value && [Number(value.task.id.slice(-6)), value.task.status];
  };
  return { next, changes };
}

test("from now on, each change of each task is told as it comes, and none from before", async () => {
  await admit(store, { number: 1 });
  const { next } = await watch();
  const coming = next();
  await settle();
  await beginOne(store);
  tell();
  expect(await coming).toEqual([1, "processing"]);
  await admit(store, { number: 2 });
  await store.tasks.requestCancel(taskId(2), ACCOUNT, NOW);
  tell();
  expect(await next()).toEqual([2, "cancelled"]);
});

test("who comes back is told every task that changed since, once, as it stands, in the order of the latest changes", async () => {
  for (const number of [1, 2, 3]) await admit(store, { number });
  const middle = await store.tasks.latestChange(ACCOUNT);
  await endOne(store, "failed");
  await admit(store, { number: 4 });
  const all = await watch(0);
  expect([await all.next(), await all.next(), await all.next(), await all.next()]).toEqual([
    [2, "pending"],
    [3, "pending"],
    [1, "failed"],
    [4, "pending"],
  ]);
  const since = await watch(middle);
  expect([await since.next(), await since.next()]).toEqual([
    [1, "failed"],
    [4, "pending"],
  ]);
});

test("numbers only grow, and a number that is yet to come stands for now", async () => {
  for (const number of [1, 2, 3]) await admit(store, { number });
  const { changes } = await watch(0);
  const told = [];
  for (let i = 0; i < 3; i++) told.push((await changes.next()).value?.number ?? 0);
  expect(told).toEqual([...new Set(told)].sort((a, b) => a - b));
  expect(await pages.start(ACCOUNT, 999_999)).toBe(told.at(-1) ?? 0);
});

test("another account's changes are not told, and do not wake", async () => {
  const { next } = await watch(0);
  const coming = next();
  await settle();
  const before = queries.length;
  await admit(store, { number: 1, accountId: accountId(2) });
  feed.publish({ id: taskId(1), accountId: accountId(2) }, false);
  await settle();
  expect(queries.length).toBe(before);
  await admit(store, { number: 2 });
  tell();
  expect(await coming).toEqual([2, "pending"]);
});

test("however many changes come while one is being told, they cost one query", async () => {
  await admit(store, { number: 1 });
  const { next } = await watch(0);
  await next();
  for (let number = 2; number <= 60; number++) {
    await admit(store, { number });
    tell();
  }
  const before = queries.length;
  for (let number = 2; number <= 60; number++) expect(await next()).toEqual([number, "pending"]);
  expect(queries.length).toBe(before + 1);
});

test("more than a page is told whole, no task twice, and others get their turns between", async () => {
  for (let number = 1; number <= 250; number++) await admit(store, { number });
  let turns = 0;
  const take = () => {
    turns += 1;
    if (!leaving.signal.aborted) setImmediate(take);
  };
  setImmediate(take);
  const { changes } = await watch(0);
  const numbers = [];
  for (let i = 0; i < 250; i++) numbers.push(Number((await changes.next()).value?.task.id.slice(-6)));
  leaving.abort();
  expect(numbers).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
  expect(queries.map(({ limit }) => limit)).toEqual([100, 100, 100]);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test("a change that nobody told of is seen in time", async () => {
  const { next } = await watch();
  const coming = next();
  await settle();
  await admit(store, { number: 1 });
  clock.advance(15_000);
  expect(await coming).toEqual([1, "pending"]);
});

test("a change while the last one is still being told is not lost", async () => {
  await admit(store, { number: 1 });
  const { next } = await watch(0);
  await next();
  await admit(store, { number: 2 });
  tell();
  expect(await next()).toEqual([2, "pending"]);
});

test("it ends when nobody is there any more, and listens no longer", async () => {
  await admit(store, { number: 1 });
  const { next } = await watch();
  const coming = next();
  await settle();
  expect(listening).toBe(1);
  leaving.abort();
  expect(await coming).toBeUndefined();
  expect(listening).toBe(0);
});

test("a reader that stops before the end is let go", async () => {
  await admit(store, { number: 1 });
  const { changes, next } = await watch(0);
  await next();
  expect(listening).toBe(1);
  await changes.return();
  expect(listening).toBe(0);
});

test("many who stand at the same place share one query and what it gave, until the next change", async () => {
  await admit(store, { number: 1 });
  const watching = Array.from({ length: 50 }, () =>
    watchAccount({ pages, feed, clock }, PRINCIPAL, { after: 0, signal: leaving.signal }),
  );
  const first = await Promise.all(watching.map(async (told) => (await told.next()).value));
  expect([queries.length, new Set(first).size]).toEqual([1, 1]);
  const coming = watching.map(async (told) => (await told.next()).value);
  await settle();
  await admit(store, { number: 2 });
  tell();
  const second = await Promise.all(coming);
  expect(new Set(second).size).toBe(1);
  expect(second[0]?.changes.map(({ task }) => task.id)).toEqual([taskId(2)]);
  expect(queries.map(({ after }) => after)).toEqual([0, 1]);
});

test("a query that fails is asked anew by the next who wants it", async () => {
  let failures = 1;
  const failing = createChangePages({
    clock,
    tasks: {
      ...store.tasks,
      changes: (query) => (failures-- > 0 ? Promise.reject(new Error("full")) : store.tasks.changes(query)),
    },
  });
  const query = { accountId: ACCOUNT, after: 0, limit: 10 };
  expect(failing.after(query)).rejects.toThrow("full");
  await settle();
  expect(await failing.after(query)).toMatchObject({ changes: [], isLast: true });
});

test("where a stream begins was committed, so that a client which comes back after a restart misses nothing", async () => {
  await admit(store);
  const lease = await beginOne(store);
  // A poll that brings nothing new takes a number that is never written.
  await store.tasks.apply(lease, snoozed(lease.task, NOW, { dueAt: NOW, failures: 0, progress: 0 }));
  const after = await pages.start(ACCOUNT, undefined);
  const changes = await store.tasks.changes({ accountId: ACCOUNT, after: 0, limit: 9 });
  expect(after).toBe(changes.at(-1)?.number ?? 0);
});

test("readers who have more to read take turns, one in each turn of the event loop, in the order they asked", async () => {
  const told: number[] = [];
  let turns = 0;
  const counting = {
    ...clock,
    after: (ms: number, call: () => void) =>
      clock.after(ms, () => {
        turns += 1;
        call();
      }),
  };
  const { turn } = createChangePages({ tasks: store.tasks, clock: counting });
  await Promise.all([1, 2, 3].map((reader) => turn().then(() => void told.push(reader, turns))));
  expect(told).toEqual([1, 1, 2, 2, 3, 3]);
  await turn();
  expect(turns).toBe(4);
});

test("a task that was deleted is not read a second later, though nothing else has changed", async () => {
  for (const number of [1, 2]) {
    await admit(store, { number });
    await endOne(store, "failed");
  }
  const query = { accountId: ACCOUNT, after: 0, limit: 100 };
  const idsOf = async () => (await pages.after(query)).changes.map(({ task }) => task.id);
  expect(await idsOf()).toEqual([taskId(1), taskId(2)]);
  await store.retention.remove(taskId(1), NOW);
  clock.advance(1_000);
  expect(await idsOf()).toEqual([taskId(2)]);
});

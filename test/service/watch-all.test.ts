import { afterEach, beforeEach, expect, test } from "bun:test";
import { createTaskFeed } from "../../src/runtime/signals.ts";
import { startOfAll, watchAll } from "../../src/service/watch-all.ts";
import type { Store } from "../../src/store/open.ts";
import { fakeClock } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { ACCOUNT, accountId, addAccount, admit, taskId } from "../helpers/store.ts";

let store: Store;
let clock: ReturnType<typeof fakeClock>;
let feed: ReturnType<typeof createTaskFeed>;
let reads: number;
let leaving: AbortController;

beforeEach(async () => {
  store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  await addAccount(store, { id: accountId(2) });
  clock = fakeClock();
  feed = createTaskFeed();
  reads = 0;
  leaving = new AbortController();
});
afterEach(() => store.stop());

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function watch(seen?: number) {
  const tasks = {
    ...store.tasks,
    managedChanges(query: { after: number; limit: number }) {
      reads += 1;
      return store.tasks.managedChanges(query);
    },
  };
  const after = await startOfAll({ tasks }, seen);
  const pages = watchAll({ tasks, feed, clock }, { after, signal: leaving.signal });
  return async () => (await pages.next()).value?.map(({ task }) => Number(task.id.slice(-6)));
}

async function admitAndTell(number: number, account = ACCOUNT): Promise<void> {
  await admit(store, { number, accountId: account });
  feed.publish({ id: taskId(number), accountId: account }, false);
}

test("a stream from now on tells what comes, of every account", async () => {
  await admit(store, { number: 1 });
  const next = await watch();
  const page = next();
  await settle();
  await admitAndTell(2, accountId(2));
  await settle();
  clock.advance(100);
  expect(await page).toEqual([2]);
});

test("what changes within a tenth of a second is read at once", async () => {
  const next = await watch(0);
  const page = next();
  await settle();
  for (const number of [1, 2, 3]) {
    await admitAndTell(number, number === 2 ? accountId(2) : ACCOUNT);
    await settle();
  }
  expect(reads).toBe(1);
  clock.advance(100);
  expect(await page).toEqual([1, 2, 3]);
  expect(reads).toBe(2);
});

test("what is past is told page by page, without the pause for news", async () => {
  await Promise.all(Array.from({ length: 150 }, (_, i) => admit(store, { number: i + 1 })));
  const next = await watch(0);
  expect(await next()).toHaveLength(100);
  expect(await next()).toHaveLength(50);
});

test("a change of which nobody told is found after a while, and whoever left is told no more", async () => {
  const next = await watch();
  const page = next();
  await settle();
  await admit(store, { number: 1 });
  clock.advance(15_000);
  await settle();
  clock.advance(100);
  expect(await page).toEqual([1]);
  const last = next();
  await settle();
  leaving.abort();
  expect(await last).toBeUndefined();
});

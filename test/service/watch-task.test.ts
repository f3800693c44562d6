import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Principal } from "../../src/domain/account.ts";
import { AppError } from "../../src/domain/errors.ts";
import { ONE } from "../../src/domain/multiplier.ts";
import type { TaskFeed } from "../../src/domain/ports/runtime.ts";
import { failed, snoozed } from "../../src/domain/transition.ts";
import { createTaskFeed } from "../../src/runtime/signals.ts";
import { type TaskEvent, watchTask } from "../../src/service/watch-task.ts";
import { openStore, type Store } from "../../src/store/open.ts";
import { fakeClock } from "../helpers/engine.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  beginOne,
  callbackId,
  claimOne,
  countingTokens,
  keyId,
  NOW,
  taskId,
} from "../helpers/store.ts";

const PRINCIPAL: Principal = {
  accountId: ACCOUNT,
  keyId: keyId(1),
  keyName: "test",
  policy: {},
  priceMultiplier: ONE,
};

let store: Store;
let clock: ReturnType<typeof fakeClock>;
let feed: TaskFeed;
let subscriptions: number;
let stopping: AbortController;

beforeEach(async () => {
  store = openStore({ path: ":memory:", ids: countingTokens() });
  await addAccount(store, { id: ACCOUNT });
  clock = fakeClock();
  stopping = new AbortController();
  subscriptions = 0;
  const channel = createTaskFeed();
  feed = {
    publish: channel.publish,
    subscribe(id, listener) {
      subscriptions += 1;
      const unsubscribe = channel.subscribe(id, listener);
      return () => {
        subscriptions -= 1;
        unsubscribe();
      };
    },
  };
});
afterEach(() => store.stop());

function watch(given: { id?: string; seen?: number; principal?: Principal } = {}) {
  const { id = taskId(1), seen, principal = PRINCIPAL } = given;
  return watchTask({ tasks: store.tasks, feed, clock }, principal, { id, seen, signal: stopping.signal });
}

async function collect(events: AsyncIterable<TaskEvent>): Promise<(number | string)[][]> {
  const states: (number | string)[][] = [];
  for await (const { number, task } of events) states.push([number, task.status, task.progress]);
  return states;
}

/** Lets whoever waits find nothing and wait again. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** With the upstream, at a progress, under no lease. */
async function progressTo(progress: number) {
  const lease = await claimOne(store, { now: clock.now() });
  await store.tasks.apply(
    lease,
    snoozed(lease.task, clock.now(), { dueAt: clock.now(), failures: 0, progress }),
  );
}

async function fail() {
  const lease = await claimOne(store, { now: clock.now() });
  await store.tasks.apply(
    lease,
    failed(lease.task, clock.now(), { code: "UPSTREAM_ERROR", message: "no" }, callbackId(1)),
  );
}

async function begin() {
  const lease = await beginOne(store);
  const again = { dueAt: clock.now(), failures: 0 };
  await store.tasks.apply(lease, snoozed({ ...lease.task, stage: "submitting" }, clock.now(), again));
}

test("every state is told as it comes, in numbers that only go up, and the last one ends it", async () => {
  await admit(store);
  const events = watch();
  const next = async () => {
    const { value } = await events.next();
    return value && [value.number, value.task.status, value.task.progress];
  };
  expect(await next()).toEqual([1000, "pending", 0]);
  for (const [change, state] of [
    [begin, [2000, "processing", 0]],
    [() => progressTo(40), [2040, "processing", 40]],
    [fail, [3040, "failed", 40]],
  ] as const) {
    const coming = next();
    await change();
    feed.publish(taskId(1), true);
    expect(await coming).toEqual([...state]);
  }
  expect(await next()).toBeUndefined();
  expect(subscriptions).toBe(0);
});

test("a pending task is told with its place in the queue, and others without", async () => {
  await admit(store, { number: 2 });
  await admit(store, { number: 3 });
  const events = watch({ id: taskId(3) });
  expect((await events.next()).value?.task.queuePosition).toBe(1);
  await events.return();
  await store.tasks.requestCancel(taskId(3), ACCOUNT, NOW);
  expect((await watch({ id: taskId(3) }).next()).value?.task).not.toHaveProperty("queuePosition");
});

test("what was seen is not told again, and what was missed is: the present state, once", async () => {
  await admit(store);
  await begin();
  await progressTo(70);
  await fail();
  const missed = [[3070, "failed", 70]];
  for (const seen of [undefined, 0, 1000, 2070]) {
    expect(await collect(watch(seen === undefined ? {} : { seen }))).toEqual(missed);
  }
  expect(await collect(watch({ seen: 3070 }))).toEqual([]);
});

test("a number that none of its states can have says nothing of what was seen", async () => {
  await admit(store);
  expect((await watch({ seen: 999_999 }).next()).value?.number).toBe(1000);
});

test("a change that nobody told of is seen in time", async () => {
  await admit(store);
  const states = collect(watch());
  await settle();
  await fail();
  clock.advance(15_000);
  expect(await states).toEqual([
    [1000, "pending", 0],
    [3000, "failed", 0],
  ]);
});

test("a change while the last state is still being read is not lost", async () => {
  await admit(store);
  const events = watch();
  await events.next();
  await fail();
  feed.publish(taskId(1), true);
  expect((await events.next()).value?.number).toBe(3000);
});

test("it ends when nobody is there any more, and listens no longer", async () => {
  await admit(store);
  const states = collect(watch());
  await settle();
  expect(subscriptions).toBe(1);
  stopping.abort();
  expect(await states).toEqual([[1000, "pending", 0]]);
  expect(subscriptions).toBe(0);
});

test("another account's task is as unknown as none at all", async () => {
  await addAccount(store, { id: accountId(2) });
  await admit(store, { accountId: accountId(2) });
  for (const id of [taskId(1), taskId(2), "nonsense", ""]) {
    const refusal = await watch({ id })
      .next()
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AppError);
    expect(refusal).toMatchObject({ code: "task_not_found" });
  }
});

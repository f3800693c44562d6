import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Principal } from "../../src/domain/access/account.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { PreviewFeed, TaskFeed } from "../../src/domain/ports/runtime.ts";
import type { Preview } from "../../src/domain/task/preview.ts";
import { failed, snoozed } from "../../src/domain/task/transition.ts";
import { createPreviewFeed, createTaskFeed } from "../../src/runtime/signals.ts";
import { type TaskEvent, watchTask } from "../../src/service/watch-task.ts";
import type { Store } from "../../src/store/open.ts";
import { fakeClock } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { PRINCIPAL } from "../helpers/principal.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  beginOne,
  callbackId,
  claimOne,
  NOW,
  taskId,
} from "../helpers/store.ts";

let store: Store;
let clock: ReturnType<typeof fakeClock>;
let feed: TaskFeed;
let previews: PreviewFeed;
let subscriptions: number;
let stopping: AbortController;

beforeEach(async () => {
  store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  clock = fakeClock();
  stopping = new AbortController();
  subscriptions = 0;
  previews = createPreviewFeed();
  const channel = createTaskFeed();
  feed = {
    ...channel,
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
  const deps = { tasks: store.tasks, feed, previews, clock };
  return watchTask(deps, principal, { id, seen, signal: stopping.signal });
}

type Told = (number | string)[];

/** A state as its figures, a preview as what its bytes say. */
function told(event: TaskEvent): Told {
  if (event.kind === "preview") return ["preview", Buffer.from(event.preview.bytes).toString()];
  const { number, task } = event;
  return [number, task.status, task.progress];
}

async function collect(events: AsyncIterable<TaskEvent>): Promise<Told[]> {
  const all: Told[] = [];
  for await (const event of events) all.push(told(event));
  return all;
}

async function nextOf(events: AsyncGenerator<TaskEvent, void>): Promise<Told | undefined> {
  const { value } = await events.next();
  return value === undefined ? undefined : told(value);
}

async function firstTask(events: AsyncGenerator<TaskEvent, void>) {
  const { value } = await events.next();
  if (value?.kind !== "state") throw new Error("There is no state.");
  return value.task;
}

const preview = (text: string): Preview => ({
  ...({ index: 0, outputIndex: 0, type: "image/png" } as const),
  bytes: new TextEncoder().encode(text),
});

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
  const next = () => nextOf(events);
  expect(await next()).toEqual([1000, "pending", 0]);
  for (const [change, state] of [
    [begin, [2000, "processing", 0]],
    [() => progressTo(40), [2040, "processing", 40]],
    [fail, [3040, "failed", 40]],
  ] as const) {
    const coming = next();
    await change();
    feed.publish({ id: taskId(1), accountId: ACCOUNT }, true);
    expect(await coming).toEqual([...state]);
  }
  expect(await next()).toBeUndefined();
  expect(subscriptions).toBe(0);
});

test("a pending task is told with its place in the queue, and others without", async () => {
  await admit(store, { number: 2 });
  await admit(store, { number: 3 });
  const events = watch({ id: taskId(3) });
  expect((await firstTask(events)).queuePosition).toBe(1);
  await events.return();
  await store.tasks.requestCancel(taskId(3), ACCOUNT, NOW);
  expect(await firstTask(watch({ id: taskId(3) }))).not.toHaveProperty("queuePosition");
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
  expect((await nextOf(watch({ seen: 999_999 })))?.[0]).toBe(1000);
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
  feed.publish({ id: taskId(1), accountId: ACCOUNT }, true);
  expect((await nextOf(events))?.[0]).toBe(3000);
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

test("previews are told between the states, to whoever looks, and have no number", async () => {
  await admit(store);
  await begin();
  const [first, second] = [watch(), watch()];
  for (const events of [first, second]) expect((await nextOf(events))?.[0]).toBe(2000);
  const both = [nextOf(first), nextOf(second)];
  await settle();
  previews.publish(taskId(1), preview("early"));
  expect(await Promise.all(both)).toEqual([
    ["preview", "early"],
    ["preview", "early"],
  ]);
  const coming = nextOf(first);
  await progressTo(50);
  feed.publish({ id: taskId(1), accountId: ACCOUNT }, false);
  expect(await coming).toEqual([2050, "processing", 50]);
  previews.publish(taskId(1), preview("not taken in time"));
  await fail();
  feed.publish({ id: taskId(1), accountId: ACCOUNT }, true);
  expect(await collect(second)).toEqual([[3050, "failed", 50]]);
  expect((await collect(first)).at(-1)).toEqual([3050, "failed", 50]);
  expect(previews.isWatched(taskId(1))).toBe(false);
});

test("a reader who is slow gets the latest preview, and nobody gets another task's", async () => {
  await admit(store);
  await begin();
  await admit(store, { number: 2 });
  const events = watch();
  await events.next();
  for (const text of ["a", "b", "c"]) previews.publish(taskId(1), preview(text));
  previews.publish(taskId(2), preview("another"));
  expect(await nextOf(events)).toEqual(["preview", "c"]);
  const coming = nextOf(events);
  await settle();
  previews.publish(taskId(2), preview("another"));
  previews.publish(taskId(1), preview("d"));
  expect(await coming).toEqual(["preview", "d"]);
  await events.return();
});

test("nobody looks for previews any more once the reader has gone or the task has ended", async () => {
  await admit(store);
  const events = watch();
  await events.next();
  expect(previews.isWatched(taskId(1))).toBe(true);
  await events.return();
  expect(previews.isWatched(taskId(1))).toBe(false);
  previews.publish(taskId(1), preview("late"));
  await fail();
  expect(await collect(watch())).toEqual([[3000, "failed", 0]]);
  expect(previews.isWatched(taskId(1))).toBe(false);
});

import { afterEach, beforeEach, expect, test } from "bun:test";
import { callbackPayload } from "../../src/domain/callback/callback-payload.ts";
import { signatureHeaders } from "../../src/domain/callback/signature.ts";
import { createSecrets } from "../../src/runtime/secrets.ts";
import { createFeeds, type Feeds } from "../../src/runtime/signals.ts";
import { createChangePages } from "../../src/service/task-changes.ts";
import { watchCallbacks } from "../../src/service/watch-callbacks.ts";
import type { Store } from "../../src/store/open.ts";
import { fakeClock } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { PRINCIPAL } from "../helpers/principal.ts";
import {
  ACCOUNT,
  addAccount,
  admit,
  callbackId,
  endOne,
  keyId,
  NOW,
  newTask,
  taskId,
} from "../helpers/store.ts";

const HEADERS = { "Content-Type": "application/json", "User-Agent": "Service-Callback/1.0" };
const secrets = createSecrets();

let store: Store;
let clock: ReturnType<typeof fakeClock>;
let feeds: Feeds;
let secret: string | undefined;
let leaving: AbortController;

beforeEach(async () => {
  store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  clock = fakeClock();
  feeds = createFeeds();
  secret = undefined;
  leaving = new AbortController();
});
afterEach(() => store.stop());

const settle = () => new Promise((resolve) => setImmediate(resolve));
const tell = () => feeds.feed.publish({ id: taskId(1), accountId: ACCOUNT }, true);

function watch(after = 0, principal = PRINCIPAL, pages = createChangePages({ tasks: store.tasks, clock })) {
  const { tasks, callbacks } = store;
  const accounts = { callbackSecret: async () => secret };
  const forms = () => undefined;
  const deps = {
    ...feeds,
    tasks,
    pages,
    callbacks,
    accounts,
    forms,
    secrets,
    clock,
    publicUrl: "https://svc",
  };
  return watchCallbacks(deps, principal, { after, signal: leaving.signal });
}

async function numbersOf(told: ReturnType<typeof watch>, count: number): Promise<number[]> {
  const numbers = [];
  for (let i = 0; i < count; i++) numbers.push(Number((await told.next()).value?.taskId.slice(-6)));
  return numbers;
}

test("each task of the key that completes or fails is told, with or without an address to call", async () => {
  await admit(store, { number: 1, callbackUrl: "https://hooks.example.com/1" });
  await endOne(store, "completed");
  await admit(store, { number: 2 });
  await endOne(store, "failed");
  await admit(store, { number: 3 });
  await endOne(store, "cancelled");
  await admit(store, { number: 4, keyId: keyId(2) });
  await endOne(store, "completed");
  await admit(store, { number: 5 });
  const told = watch();
  const [first, second] = [(await told.next()).value, (await told.next()).value];
  const bodyOf = async (number: number) =>
    callbackPayload((await store.tasks.byId(taskId(number)))!, "https://svc");
  expect(first).toEqual({
    number: expect.any(Number),
    taskId: taskId(1),
    callback: (await store.callbacks.byId(callbackId(1)))!,
    headers: HEADERS,
    body: await bodyOf(1),
  });
  expect(second).toMatchObject({ taskId: taskId(2), callback: undefined, body: await bodyOf(2) });
  const coming = told.next();
  await settle();
  expect(Bun.peek.status(coming)).toBe("pending");
  await endOne(store, "completed");
  tell();
  const fifth = (await coming).value;
  expect(fifth?.taskId).toBe(taskId(5));
  expect(await numbersOf(watch(second?.number), 1)).toEqual([5]);
});

test("a task that is deleted before it was told is passed over, by every later reader too", async () => {
  for (const number of [1, 2, 3]) {
    await admit(store, { number });
    await endOne(store, "failed");
  }
  const pages = createChangePages({ tasks: store.tasks, clock });
  const told = watch(0, PRINCIPAL, pages);
  expect(await numbersOf(told, 1)).toEqual([1]);
  await store.retention.remove(taskId(2), NOW);
  expect(await numbersOf(told, 1)).toEqual([3]);
  expect(await numbersOf(watch(0, PRINCIPAL, pages), 2)).toEqual([1, 3]);
});

test("a key that signs has the headers of a delivery of this moment, by the callback's id or else the task's", async () => {
  secret = secrets.newSigningSecret();
  await admit(store, { number: 1, callbackUrl: "https://hooks.example.com/1" });
  await endOne(store, "failed");
  await admit(store, { number: 2 });
  await endOne(store, "failed");
  clock.set(NOW + 77_000);
  const told = watch();
  for (const id of [callbackId(1), taskId(2)]) {
    const { value } = await told.next();
    const { headers, body = "" } = value ?? {};
    expect(headers).toEqual({
      ...HEADERS,
      ...signatureHeaders(secrets, secret, { id, at: NOW + 77_000, body }),
    });
  }
});

test("what is redelivered meanwhile is told again, without a number, to those who listen to its key", async () => {
  await admit(store, { number: 1, callbackUrl: "https://hooks.example.com/1" });
  await endOne(store, "failed");
  const after = await store.tasks.latestChange(ACCOUNT);
  const [told, other] = [watch(after), watch(after, { ...PRINCIPAL, keyId: keyId(2) })];
  const [coming, nothing] = [told.next(), other.next()];
  await settle();
  feeds.redeliveries.publish(keyId(1), callbackId(1));
  const { value } = await coming;
  expect(value).toMatchObject({ taskId: taskId(1), callback: { id: callbackId(1) } });
  expect(value?.number).toBeUndefined();
  await settle();
  expect(Bun.peek.status(nothing)).toBe("pending");
});

test("a reader who is slow holds a thousand redeliveries at most, each callback once", async () => {
  for (let number = 1; number <= 1_005; number++) {
    await admit(store, { number, callbackUrl: "https://hooks.example.com/" });
    await endOne(store, "failed");
  }
  const told = watch(await store.tasks.latestChange(ACCOUNT));
  const first = told.next();
  await settle();
  feeds.redeliveries.publish(keyId(1), callbackId(1));
  await first;
  for (let number = 2; number <= 1_005; number++) {
    feeds.redeliveries.publish(keyId(1), callbackId(number));
    feeds.redeliveries.publish(keyId(1), callbackId(number));
  }
  expect(await numbersOf(told, 1_000)).toEqual(Array.from({ length: 1_000 }, (_, i) => i + 2));
  const rest = told.next();
  await settle();
  expect(Bun.peek.status(rest)).toBe("pending");
});

test("the end of a group is told after that of its last task, and only the last of both has the number", async () => {
  const group = {
    policy: "all",
    tasks: [taskId(1), taskId(2)],
    callbackUrl: "https://group.example.com/",
  } as const;
  for (const number of [1, 2]) await admit(store, { number, request: { ...newTask().request, group } });
  for (const _ of group.tasks) await endOne(store, "completed");
  const told = watch();
  const all = [(await told.next()).value, (await told.next()).value, (await told.next()).value];
  expect(all.map((each) => [each?.taskId, each?.callback?.event, each?.number !== undefined])).toEqual([
    [taskId(1), undefined, true],
    [taskId(2), undefined, false],
    [taskId(2), "group_ended", true],
  ]);
});

test("it ends when nobody is there any more", async () => {
  const coming = watch().next();
  await settle();
  leaving.abort();
  expect((await coming).done).toBe(true);
});

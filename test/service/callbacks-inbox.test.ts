import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Principal } from "../../src/domain/access/account.ts";
import type { Delivery } from "../../src/domain/callback/callback.ts";
import { callbackPayload } from "../../src/domain/callback/callback-payload.ts";
import type { AccountId } from "../../src/domain/ids.ts";
import { createCallbackFeed } from "../../src/runtime/signals.ts";
import type { CallbackSelection } from "../../src/service/list-callbacks.ts";
import { listCallbacks } from "../../src/service/list-callbacks.ts";
import { readCallback } from "../../src/service/read-callback.ts";
import { redeliverCallback, redeliverCallbacks } from "../../src/service/redeliver-callbacks.ts";
import type { Store } from "../../src/store/open.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { PRINCIPAL } from "../helpers/principal.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  callbackId,
  endOne,
  keyId,
  NOW,
  taskId,
} from "../helpers/store.ts";

const STRANGER: Principal = { ...PRINCIPAL, accountId: accountId(2), keyId: keyId(2) };
/** Nobody's, a task's, and nothing at all. */
const UNKNOWN = [callbackId(99), taskId(1), "nonsense", "", "cb_%00"];

let store: Store;
let told: string[];
let woken: number;
let feed: ReturnType<typeof createCallbackFeed>;

beforeEach(async () => {
  store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  await addAccount(store, { id: accountId(2) });
  told = [];
  woken = 0;
  feed = createCallbackFeed();
});
afterEach(() => store.stop());

const deps = () => ({
  callbacks: store.callbacks,
  tasks: store.tasks,
  redeliveries: feed,
  forms: () => undefined,
  callbacksDue: () => {
    woken += 1;
  },
});

/** A task that failed and had an address to call. */
async function owe(number: number, at = NOW, owner: AccountId = ACCOUNT): Promise<void> {
  const callbackUrl = `https://hooks.example.com/${number}`;
  await admit(store, { number, accountId: owner, keyId: keyId(number), callbackUrl });
  await endOne(store, "failed", { at });
}

/** Sends whatever is due, which goes as told. */
async function send(delivery: Delivery, at = NOW): Promise<void> {
  const limits = { total: 1000, perAccount: 1000, perHost: 1000 };
  const sends = await store.callbacks.claim({ now: at, leaseMs: 20_000, limits, underWay: [] });
  for (const each of sends) await store.callbacks.record(each, delivery, at + 30);
}

async function list(query: CallbackSelection & { limit?: number } = {}, principal = PRINCIPAL) {
  const { callbacks, next } = await listCallbacks(deps(), principal, { limit: 20, ...query });
  return { numbers: callbacks.map(({ id }) => Number(id.slice(-6))), next };
}

const refusalOf = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error) => error);

describe("the list", () => {
  test("has pages that follow one another by their cursors, and the last one has none", async () => {
    for (const number of [1, 2, 3, 4, 5]) await owe(number, NOW + number);
    await owe(6, NOW + 6, accountId(2));
    expect(await list({ limit: 2 })).toEqual({ numbers: [5, 4], next: callbackId(4) });
    expect(await list({ limit: 2, after: callbackId(4) })).toEqual({ numbers: [3, 2], next: callbackId(2) });
    expect(await list({ limit: 2, after: callbackId(2) })).toEqual({ numbers: [1], next: null });
    expect((await list({ limit: 5 })).next).toBeNull();
    expect((await list({}, STRANGER)).numbers).toEqual([6]);
  });

  test("is narrowed by state, task and time, each way of writing it", async () => {
    for (const number of [1, 2, 3]) await owe(number, NOW + number * 1000);
    await send({ kind: "refused", status: 500 });
    await owe(4, NOW + 4000);
    expect((await list({ state: "pending" })).numbers).toEqual([4]);
    expect((await list({ state: "failed", limit: 1 })).next).toBe(callbackId(3));
    expect((await list({ taskId: taskId(2) })).numbers).toEqual([2]);
    const seconds = NOW / 1000;
    const iso = (sec: number) => new Date(sec * 1000).toISOString();
    expect((await list({ from: seconds + 2, to: String(seconds + 4) })).numbers).toEqual([3, 2]);
    expect((await list({ from: iso(seconds + 2), to: iso(seconds + 4) })).numbers).toEqual([3, 2]);
  });

  test.each<[CallbackSelection, string]>([
    [{ state: "dead" }, "state"],
    [{ taskId: "nonsense" }, "task_id"],
    [{ from: "yesterday" }, "from"],
    [{ to: "" }, "to"],
    [{ from: 10, to: 10 }, "to"],
    [{ from: "2026-11-21", to: "2026-11-20T23:59:59Z" }, "to"],
    [{ after: "nonsense" }, "after"],
    [{ after: taskId(1) }, "after"],
  ])("asked for %p is refused for its %s", async (query, param) => {
    expect(await refusalOf(list(query))).toMatchObject({ code: "invalid_request", param });
  });

  test("takes another account's callback for no cursor, as one that is not there", async () => {
    await owe(1);
    await owe(2, NOW, accountId(2));
    const foreign = await refusalOf(list({ after: callbackId(2) }));
    const none = await refusalOf(list({ after: callbackId(3) }));
    expect(foreign.code).toBe("invalid_request");
    expect(foreign.message.replace("2", "3")).toBe(none.message);
  });
});

describe("a callback that is read", () => {
  test("has the payload each send has, and the history of all of them", async () => {
    await owe(1);
    await send({ kind: "refused", status: 503, address: "203.0.113.9", excerpt: "busy" });
    await redeliverCallback(deps(), PRINCIPAL, callbackId(1));
    await send({ kind: "delivered", status: 200, address: "203.0.113.9" }, NOW + 50);
    const reading = await readCallback({ ...deps(), publicUrl: "https://svc" }, PRINCIPAL, callbackId(1));
    const task = await store.tasks.byId(taskId(1));
    expect(reading.payload).toBe(callbackPayload(task!, "https://svc"));
    expect(reading.callback).toMatchObject({ state: "delivered", attempts: 1 });
    expect(reading.history).toMatchObject([
      {
        sequence: 1,
        isRedelivery: false,
        outcome: "refused",
        status: 503,
        excerpt: "busy",
        endedAt: NOW + 30,
      },
      { sequence: 2, isRedelivery: true, outcome: "delivered", status: 200 },
    ]);
  });

  test("is not there for another account, alike for an unknown one", async () => {
    await owe(1);
    const foreign = await refusalOf(readCallback(deps(), STRANGER, callbackId(1)));
    expect(foreign).toMatchObject({ code: "not_found" });
    for (const id of UNKNOWN) {
      const refusal = await refusalOf(readCallback(deps(), STRANGER, id));
      expect([refusal.code, refusal.message]).toEqual([foreign.code, foreign.message]);
    }
  });
});

describe("redelivery", () => {
  test("of one wakes the sender, and tells those who listen to its key", async () => {
    await owe(1);
    await owe(2);
    await send({ kind: "refused", status: 500 });
    for (const number of [1, 2])
      feed.subscribe(keyId(number), (callback) => void told.push(`${number} ${callback}`));
    expect(await redeliverCallback(deps(), PRINCIPAL, callbackId(2))).toMatchObject({
      id: callbackId(2),
      state: "failed",
      isRedeliveryDue: true,
    });
    expect([told, woken]).toEqual([[`2 ${callbackId(2)}`], 1]);
  });

  test("asked for again before it began is one send", async () => {
    await owe(1);
    await send({ kind: "refused", status: 500 });
    for (let i = 0; i < 1_000; i++) await redeliverCallback(deps(), PRINCIPAL, callbackId(1));
    await send({ kind: "refused", status: 500 }, NOW + 1);
    await send({ kind: "refused", status: 500 }, NOW + 1_000_000);
    expect(await store.callbacks.attempts(callbackId(1))).toHaveLength(2);
  });

  test("of one that was redelivered a hundred times is refused, and left out of a range", async () => {
    for (const number of [1, 2]) await owe(number);
    await send({ kind: "refused", status: 500 });
    for (let count = 0; count < 100; count++) {
      await redeliverCallback(deps(), PRINCIPAL, callbackId(1));
      await send({ kind: "refused", status: 500 });
    }
    woken = 0;
    expect(await refusalOf(redeliverCallback(deps(), PRINCIPAL, callbackId(1)))).toMatchObject({
      code: "invalid_request",
      message: "This callback was redelivered 100 times, which is the most.",
    });
    expect(woken).toBe(0);
    const { callbacks, next } = await redeliverCallbacks(deps(), PRINCIPAL, { from: 0 });
    expect([callbacks.map(({ id }) => id), next]).toEqual([[callbackId(2)], null]);
  });

  test("of another account's or an unknown one changes nothing and wakes nobody", async () => {
    await owe(1);
    await send({ kind: "refused", status: 500 });
    for (const id of [callbackId(1), ...UNKNOWN]) {
      const refusal = await refusalOf(redeliverCallback(deps(), STRANGER, id));
      expect(refusal).toMatchObject({ code: "not_found" });
    }
    const selections = [{ taskId: taskId(1) }, { from: 0 }];
    for (const each of selections)
      expect(await redeliverCallbacks(deps(), STRANGER, each)).toEqual({ callbacks: [], next: null });
    expect(woken).toBe(0);
    expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ isRedeliveryDue: false });
  });

  test("of a task is of its callback alone", async () => {
    await owe(1);
    await owe(2);
    const { callbacks, next } = await redeliverCallbacks(deps(), PRINCIPAL, { taskId: taskId(1) });
    expect([callbacks.map(({ id }) => id), next]).toEqual([[callbackId(1)], null]);
    expect(await store.callbacks.byId(callbackId(2))).toMatchObject({ isRedeliveryDue: false });
  });

  test("of a range is of those in it and in the state, a hundred at a time", async () => {
    for (let number = 1; number <= 205; number++) await owe(number, NOW + number * 1000);
    await send({ kind: "refused", status: 500 });
    await owe(206, NOW + 206_000);
    const range = { from: (NOW + 3_000) / 1000, state: "failed" };
    const asked: number[] = [];
    const cursors: unknown[] = [];
    for (let after: string | undefined, isLast = false; !isLast; ) {
      const { callbacks, next } = await redeliverCallbacks(deps(), PRINCIPAL, { ...range, after });
      asked.push(...callbacks.map(({ id }) => Number(id.slice(-6))));
      cursors.push(next);
      after = next ?? undefined;
      isLast = next === null;
    }
    expect(asked).toEqual(Array.from({ length: 203 }, (_, i) => 205 - i));
    expect(cursors).toEqual([callbackId(106), callbackId(6), null]);
    expect(woken).toBe(3);
  });

  test("of exactly a hundred leaves no page to ask for", async () => {
    for (let number = 1; number <= 100; number++) await owe(number);
    const { callbacks, next } = await redeliverCallbacks(deps(), PRINCIPAL, { from: 0 });
    expect([callbacks.length, next]).toEqual([100, null]);
  });

  test.each<[CallbackSelection, string]>([
    [{}, "from"],
    [{ to: 10 }, "from"],
    [{ state: "failed" }, "from"],
    [{ taskId: taskId(1), from: 0 }, "task_id"],
    [{ taskId: taskId(1), to: 10 }, "task_id"],
    [{ taskId: taskId(1), state: "failed" }, "task_id"],
    [{ taskId: "nonsense" }, "task_id"],
    [{ from: "yesterday" }, "from"],
    [{ from: 0, after: "nonsense" }, "after"],
  ])("of %p is refused for its %s, and asks for nothing", async (selection, param) => {
    await owe(1);
    const refusal = await refusalOf(redeliverCallbacks(deps(), PRINCIPAL, selection));
    expect(refusal).toMatchObject({ code: "invalid_request", param });
    expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ isRedeliveryDue: false });
  });
});

import { describe, expect, test } from "bun:test";
import type { Callback, CallbackSend, Delivery } from "../../src/domain/callback/callback.ts";
import { taskError } from "../../src/domain/errors.ts";
import type { AccountId } from "../../src/domain/ids.ts";
import { MAX_CALLBACK_ATTEMPTS, MAX_CALLBACK_REDELIVERIES } from "../../src/domain/limits.ts";
import type { CallbackFilter, SendLimits } from "../../src/domain/ports/callback-store.ts";
import { failed } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  callbackId,
  claimOne,
  claimQuery,
  keyId,
  LANE,
  type MakeStore,
  NOW,
  type StoreUnderTest,
  taskId,
  withStore,
} from "../helpers/store.ts";
import { describeManagedCallbacks } from "./callback-store-managed.ts";
import { describeCallbackTerms } from "./callback-store-terms.ts";

const LEASE_MS = 20_000;
const OK: Delivery = { kind: "delivered", status: 204 };
const ERROR: Delivery = { kind: "refused", status: 500 };
const NO_LIMITS: SendLimits = { total: 1000, perAccount: 1000, perHost: 1000 };

interface Owed {
  readonly number?: number;
  readonly host?: string;
  readonly account?: AccountId;
  readonly at?: number;
}

/** Ends a task that has a callback, which is due at once. */
async function owe(
  store: StoreUnderTest,
  { number = 1, host = "example.com", account = ACCOUNT, at = NOW }: Owed = {},
) {
  await admit(store, { number, accountId: account, callbackUrl: `https://${host}/${number}` });
  const lease = await claimOne(store);
  await store.tasks.apply(lease, failed(lease.task, at, taskError("UPSTREAM_ERROR"), callbackId(number)));
}

interface Asked {
  readonly now?: number;
  readonly limits?: Partial<SendLimits>;
  readonly underWay?: readonly Callback[];
}

function claim(store: StoreUnderTest, { now = NOW, limits = {}, underWay = [] }: Asked = {}) {
  return store.callbacks.claim({ now, leaseMs: LEASE_MS, limits: { ...NO_LIMITS, ...limits }, underWay });
}

/** Claims the only callback that is due. */
async function claimSend(store: StoreUnderTest, now = NOW): Promise<CallbackSend> {
  const sends = await claim(store, { now });
  expect(sends).toHaveLength(1);
  return sends[0]!;
}

const numbersOf = (sends: readonly CallbackSend[]) =>
  sends.map(({ callback }) => Number(callback.id.slice(-6)));
const filter = (given: Partial<CallbackFilter> = {}): CallbackFilter => ({
  accountId: ACCOUNT,
  limit: 10,
  ...given,
});

/** What every implementation of `CallbackStore` does. `makeStore` gives an empty store each time. */
/** What is owed, which is counted in two ways. */
async function owed({ callbacks }: StoreUnderTest) {
  const both = await callbacks.owed();
  expect(await callbacks.owedCount()).toBe(both.count);
  return both;
}

export function describeCallbackStore(name: string, make: MakeStore): void {
  describe(`${name}: attempts`, () => {
    test(
      "a taken callback has its attempt counted and is taken by nobody else",
      withStore(make, async (store) => {
        expect(await store.callbacks.hasDue(NOW)).toBe(false);
        await owe(store);
        expect(await store.callbacks.hasDue(NOW)).toBe(true);
        const send = await claimSend(store);
        expect(send).toMatchObject({ sequence: 1, isRedelivery: false });
        expect(send.callback).toEqual({
          id: callbackId(1),
          taskId: taskId(1),
          requestId: "req_1",
          accountId: ACCOUNT,
          keyId: keyId(1),
          url: "https://example.com/1",
          host: "example.com",
          event: "failed",
          state: "pending",
          attempts: 1,
          dueAt: NOW + LEASE_MS,
          isRedeliveryDue: false,
          createdAt: NOW,
        });
        expect(await store.callbacks.byId(callbackId(1))).toEqual(send.callback);
        expect(await store.callbacks.attempts(callbackId(1))).toEqual([
          { sequence: 1, isRedelivery: false, startedAt: NOW },
        ]);
        expect(await claim(store)).toEqual([]);
        expect(await store.callbacks.nextDueAt()).toBe(NOW + LEASE_MS);
        const isDue = await Promise.all(
          [LEASE_MS - 1, LEASE_MS].map((ms) => store.callbacks.hasDue(NOW + ms)),
        );
        expect(isDue).toEqual([false, true]);
      }),
    );

    test(
      "a delivered callback is done, and what was learned of its receiver is kept",
      withStore(make, async (store) => {
        await owe(store);
        const send = await claimSend(store);
        const delivery = { ...OK, address: "192.0.2.7", excerpt: "thanks" };
        await store.callbacks.record(send, delivery, NOW + 5);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "delivered", attempts: 1 });
        expect(await store.callbacks.attempts(callbackId(1))).toEqual([
          {
            sequence: 1,
            isRedelivery: false,
            startedAt: NOW,
            endedAt: NOW + 5,
            outcome: "delivered",
            status: 204,
            address: "192.0.2.7",
            excerpt: "thanks",
          },
        ]);
        expect(await store.callbacks.nextDueAt()).toBeUndefined();
        expect(await claim(store, { now: NOW + 1_000_000 })).toEqual([]);
      }),
    );

    test(
      "a refused callback is due again when the caller says, and given up when it says no time",
      withStore(make, async (store) => {
        await owe(store);
        await store.callbacks.record(await claimSend(store), ERROR, NOW + 5, NOW + 5_000);
        expect(await store.callbacks.nextDueAt()).toBe(NOW + 5_000);
        expect(await claim(store, { now: NOW + 4_999 })).toEqual([]);
        const second = await claimSend(store, NOW + 5_000);
        expect(second).toMatchObject({ sequence: 2, callback: { attempts: 2 } });
        await store.callbacks.record(second, { kind: "forbidden", reason: "private" }, NOW + 5_001);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "failed", attempts: 2 });
        expect(await claim(store, { now: NOW + 1_000_000 })).toEqual([]);
      }),
    );

    test(
      "a callback whose sender died is taken again, five times at most, and then failed",
      withStore(make, async (store) => {
        await owe(store);
        let now = NOW;
        for (let attempt = 1; attempt <= MAX_CALLBACK_ATTEMPTS; attempt++) {
          expect((await claimSend(store, now)).callback.attempts).toBe(attempt);
          now += LEASE_MS;
        }
        expect(await claim(store, { now })).toEqual([]);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({
          state: "failed",
          attempts: MAX_CALLBACK_ATTEMPTS,
        });
        expect(await store.callbacks.nextDueAt()).toBeUndefined();
      }),
    );

    test(
      "a last attempt is not followed by another, even when a time is given",
      withStore(make, async (store) => {
        await owe(store);
        for (let attempt = 1; attempt <= MAX_CALLBACK_ATTEMPTS; attempt++) {
          const at = NOW + attempt;
          await store.callbacks.record(await claimSend(store, at), ERROR, at, at + 1);
        }
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "failed" });
        expect(await claim(store, { now: NOW + 1_000_000 })).toEqual([]);
      }),
    );

    test(
      "a late refusal of an earlier attempt changes nothing, a late delivery ends it",
      withStore(make, async (store) => {
        await owe(store);
        const first = await claimSend(store);
        const second = await claimSend(store, NOW + LEASE_MS);
        await store.callbacks.record(first, ERROR, NOW + LEASE_MS + 1);
        expect(await store.callbacks.byId(callbackId(1))).toEqual(second.callback);
        await store.callbacks.record(second, ERROR, NOW + LEASE_MS + 2, NOW + 90_000);
        // What a send came to is recorded once.
        await store.callbacks.record(second, OK, NOW + LEASE_MS + 3);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({
          state: "pending",
          dueAt: NOW + 90_000,
        });
        const third = await claimSend(store, NOW + 90_000);
        const fourth = await claimSend(store, NOW + 90_000 + LEASE_MS);
        await store.callbacks.record(third, OK, NOW + 200_000);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "delivered" });
        await store.callbacks.record(fourth, ERROR, NOW + 200_001, NOW + 300_000);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "delivered" });
        expect(await claim(store, { now: NOW + 1_000_000 })).toEqual([]);
      }),
    );

    test(
      "sends without an outcome are known, until they have one",
      withStore(make, async (store) => {
        await owe(store);
        expect(await store.callbacks.unfinished()).toEqual([]);
        const send = await claimSend(store);
        const [found] = await store.callbacks.unfinished();
        expect(found).toEqual({ callback: send.callback, sequence: 1, isRedelivery: false });
        expect(await store.callbacks.unfinished(NOW)).toEqual([]);
        expect(await store.callbacks.unfinished(NOW + 1)).toHaveLength(1);
        await store.callbacks.record(send, { kind: "interrupted" }, NOW + 1, NOW + 60_000);
        expect(await store.callbacks.unfinished()).toEqual([]);
        expect(await store.callbacks.attempts(callbackId(1))).toMatchObject([{ outcome: "interrupted" }]);
        expect(await store.callbacks.nextDueAt()).toBe(NOW + 60_000);
      }),
    );
  });

  describe(`${name}: turns and limits`, () => {
    test(
      "of one host, the longest due are taken first",
      withStore(make, async (store) => {
        for (const number of [1, 2, 3]) await owe(store, { number, at: NOW - number });
        expect(numbersOf(await claim(store, { limits: { total: 1 } }))).toEqual([3]);
        expect(numbersOf(await claim(store))).toEqual([2, 1]);
      }),
    );

    test(
      "a host that is at its limit is passed over, and others are served however many wait for it",
      withStore(make, async (store) => {
        for (const number of [1, 2, 3, 4, 5]) await owe(store, { number, host: "a.test" });
        await owe(store, { number: 6, host: "b.test" });
        const first = await claim(store, { limits: { perHost: 2 } });
        expect(numbersOf(first).toSorted()).toEqual([1, 2, 6]);
        const underWay = first.map(({ callback }) => callback);
        expect(await claim(store, { limits: { perHost: 2 }, underWay })).toEqual([]);
        await owe(store, { number: 7, host: "c.test" });
        expect(numbersOf(await claim(store, { limits: { perHost: 2 }, underWay }))).toEqual([7]);
        const [, ...others] = underWay;
        expect(numbersOf(await claim(store, { limits: { perHost: 2 }, underWay: others }))).toEqual([3]);
      }),
    );

    test(
      "ports of one machine are hosts of their own, and so is each account's use of a host",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        await owe(store, { number: 1, host: "a.test:81" });
        await owe(store, { number: 2, host: "a.test:82" });
        await owe(store, { number: 3, host: "a.test:81", account: accountId(2) });
        await owe(store, { number: 4, host: "a.test:81" });
        expect(numbersOf(await claim(store, { limits: { perHost: 1 } })).toSorted()).toEqual([1, 2, 3]);
      }),
    );

    test(
      "an account takes no more than its share, and accounts take turns for what is left",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        await addAccount(store, { id: accountId(3) });
        for (const number of [1, 2, 3, 4]) await owe(store, { number, host: `${number}.test` });
        for (const number of [11, 12, 13])
          await owe(store, { number, host: `${number}.test`, account: accountId(2) });
        await owe(store, { number: 21, account: accountId(3) });
        const first = await claim(store, { limits: { total: 4, perAccount: 2 } });
        expect(new Set(first.map(({ callback }) => callback.accountId))).toEqual(
          new Set([ACCOUNT, accountId(2), accountId(3)]),
        );
        expect(first).toHaveLength(4);
        const underWay = first.map(({ callback }) => callback);
        expect(await claim(store, { limits: { total: 4 }, underWay })).toEqual([]);
        const rest = await claim(store, { limits: { perAccount: 2 }, underWay });
        const perAccount = Map.groupBy([...first, ...rest], ({ callback }) => callback.accountId);
        expect([...perAccount.values()].map(({ length }) => length).toSorted()).toEqual([1, 2, 2]);
      }),
    );

    test(
      "hosts of an account take turns, one slot at a time",
      withStore(make, async (store) => {
        for (const number of [1, 2, 3]) await owe(store, { number, host: "a.test" });
        for (const number of [4, 5]) await owe(store, { number, host: "b.test" });
        await owe(store, { number: 6, host: "c.test" });
        const order: number[] = [];
        for (let i = 0; i < 6; i++) order.push(...numbersOf(await claim(store, { limits: { total: 1 } })));
        expect(order).toEqual([1, 4, 6, 2, 5, 3]);
      }),
    );

    test(
      "callbacks whose five attempts are used up hold up nobody",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        await owe(store, { number: 1, host: "a.test" });
        await owe(store, { number: 2, host: "b.test" });
        let now = NOW;
        for (let i = 0; i < MAX_CALLBACK_ATTEMPTS; i++) {
          expect(await claim(store, { now })).toHaveLength(2);
          now += LEASE_MS;
        }
        await owe(store, { number: 3, account: accountId(2), at: now });
        await owe(store, { number: 4, host: "c.test", at: now });
        expect(numbersOf(await claim(store, { now, limits: { perHost: 1 } })).toSorted()).toEqual([3, 4]);
        expect(await claim(store, { now, limits: { perHost: 0 } })).toEqual([]);
      }),
    );

    test(
      "however many come due at once, all are taken in the end",
      withStore(make, async (store) => {
        const numbers = Array.from({ length: 1100 }, (_, i) => i + 1);
        await Promise.all(numbers.map((number) => admit(store, { number, callbackUrl: "https://a.test/" })));
        const lanes = [{ lane: LANE, capacity: 2000 }];
        const { leases } = await store.tasks.claim(claimQuery({ limit: 2000, lanes, capacity: 2000 }));
        await Promise.all(
          leases.map((lease, i) =>
            store.tasks.apply(lease, failed(lease.task, NOW, taskError("UPSTREAM_ERROR"), callbackId(i + 1))),
          ),
        );
        const limits = { total: 2000, perAccount: 2000, perHost: 2000 };
        const sends = await claim(store, { limits });
        await Promise.all(sends.map((send) => store.callbacks.record(send, ERROR, NOW, NOW + 10)));
        const taken = new Set<number>();
        for (let pass = 0; pass < 5; pass++)
          for (const number of numbersOf(await claim(store, { now: NOW + 10, limits }))) taken.add(number);
        expect(taken.size).toBe(numbers.length);
      }),
    );
  });

  describe(`${name}: redelivery`, () => {
    /** A callback that was acknowledged, or is given up. */
    async function settled(store: StoreUnderTest, delivery: Delivery) {
      await owe(store);
      await store.callbacks.record(await claimSend(store), delivery, NOW);
    }

    test(
      "a callback that is over is sent once more, outside the five",
      withStore(make, async (store) => {
        await settled(store, ERROR);
        const [asked] = await store.callbacks.redeliver(filter({ id: callbackId(1) }));
        expect(asked).toMatchObject({ id: callbackId(1), state: "failed", isRedeliveryDue: true });
        const send = await claimSend(store, NOW + 9);
        expect(send).toMatchObject({
          sequence: 2,
          isRedelivery: true,
          callback: { attempts: 1, state: "failed", isRedeliveryDue: false },
        });
        expect(await claim(store, { now: NOW + 1_000_000 })).toEqual([]);
        await store.callbacks.record(send, OK, NOW + 10);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "delivered", attempts: 1 });
        expect(await store.callbacks.attempts(callbackId(1))).toMatchObject([
          { sequence: 1, isRedelivery: false, outcome: "refused" },
          { sequence: 2, isRedelivery: true, outcome: "delivered" },
        ]);
      }),
    );

    test(
      "a redelivery that is refused leaves a callback as it was, and is not tried again",
      withStore(make, async (store) => {
        await settled(store, OK);
        await store.callbacks.redeliver(filter({ taskId: taskId(1) }));
        await store.callbacks.record(await claimSend(store), ERROR, NOW + 1, NOW + 2);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "delivered", attempts: 1 });
        expect(await claim(store, { now: NOW + 1_000_000 })).toEqual([]);
      }),
    );

    test(
      "a pending callback keeps its schedule beside a redelivery, and needs none after one that arrived",
      withStore(make, async (store) => {
        await owe(store);
        await store.callbacks.record(await claimSend(store), ERROR, NOW, NOW + 60_000);
        await store.callbacks.redeliver(filter());
        const refused = await claimSend(store, NOW + 1);
        expect(refused).toMatchObject({ isRedelivery: true, callback: { attempts: 1, dueAt: NOW + 60_000 } });
        await store.callbacks.record(refused, ERROR, NOW + 2, NOW + 3);
        expect(await claim(store, { now: NOW + 59_999 })).toEqual([]);
        expect(await store.callbacks.nextDueAt()).toBe(NOW + 60_000);
        await store.callbacks.redeliver(filter());
        await store.callbacks.record(await claimSend(store, NOW + 4), OK, NOW + 5);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "delivered", attempts: 1 });
        expect(await claim(store, { now: NOW + 1_000_000 })).toEqual([]);
      }),
    );

    test(
      "the next attempt comes at its own time, also beside a redelivery that is under way",
      withStore(make, async (store) => {
        await owe(store);
        await store.callbacks.record(await claimSend(store), ERROR, NOW, NOW + 10);
        await store.callbacks.redeliver(filter());
        const redelivery = await claimSend(store, NOW + 5);
        const attempt = await claimSend(store, NOW + 10);
        expect([redelivery.sequence, attempt.sequence, attempt.callback.attempts]).toEqual([2, 3, 2]);
        await store.callbacks.record(redelivery, ERROR, NOW + 11);
        await store.callbacks.record(attempt, ERROR, NOW + 12, NOW + 70);
        expect(await store.callbacks.nextDueAt()).toBe(NOW + 70);
      }),
    );

    test.each([
      ["delivered", OK],
      ["refused", ERROR],
    ] as const)("a redelivery asked for during an attempt that is %s is still sent, once", (_, delivery) =>
      withStore(make, async (store) => {
        await owe(store);
        const attempt = await claimSend(store);
        await store.callbacks.redeliver(filter());
        await store.callbacks.redeliver(filter());
        await store.callbacks.record(attempt, delivery, NOW + 1);
        const send = await claimSend(store, NOW + 2);
        expect(send).toMatchObject({ sequence: 2, isRedelivery: true });
        expect(await claim(store, { now: NOW + 3 })).toEqual([]);
      })(),
    );

    test(
      "a callback is redelivered a hundred times at most",
      withStore(make, async (store) => {
        await settled(store, ERROR);
        for (let count = 1; count <= MAX_CALLBACK_REDELIVERIES; count++) {
          expect(await store.callbacks.redeliver(filter())).toMatchObject([{ isRedeliveryDue: true }]);
          await store.callbacks.record(await claimSend(store), ERROR, NOW);
        }
        expect(await store.callbacks.redeliver(filter())).toMatchObject([{ isRedeliveryDue: false }]);
        expect(await claim(store)).toEqual([]);
      }),
    );

    test(
      "nobody redelivers what is not theirs",
      withStore(make, async (store) => {
        await settled(store, ERROR);
        await addAccount(store, { id: accountId(2) });
        expect(
          await store.callbacks.redeliver(filter({ accountId: accountId(2), id: callbackId(1) })),
        ).toEqual([]);
        expect(await claim(store)).toEqual([]);
      }),
    );
  });

  describeManagedCallbacks(name, make);
  describeCallbackTerms(name, make);

  describe(`${name}: lists`, () => {
    const listed = async (store: StoreUnderTest, given: Partial<CallbackFilter> = {}) =>
      (await store.callbacks.list(filter(given))).map(({ id }) => Number(id.slice(-6)));

    test(
      "an account's callbacks are listed newest first, in pages, by state, task and time",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        // Two of one millisecond: their ids decide.
        for (const [number, at] of [
          [1, NOW],
          [2, NOW + 5],
          [3, NOW + 5],
          [4, NOW + 9],
        ] as const)
          await owe(store, { number, at });
        await owe(store, { number: 5, account: accountId(2) });
        const [oldest] = await claim(store, { limits: { total: 1 } });
        await store.callbacks.record(oldest!, ERROR, NOW);
        expect(await listed(store)).toEqual([4, 3, 2, 1]);
        expect(await listed(store, { limit: 2 })).toEqual([4, 3]);
        expect(await listed(store, { limit: 2, after: callbackId(3) })).toEqual([2, 1]);
        expect(await listed(store, { after: callbackId(9) })).toEqual([]);
        const failedOne = numbersOf([oldest!]);
        expect(await listed(store, { state: "failed" })).toEqual(failedOne);
        expect(await listed(store, { state: "delivered" })).toEqual([]);
        expect(await listed(store, { taskId: taskId(2) })).toEqual([2]);
        expect(await listed(store, { taskId: taskId(5) })).toEqual([]);
        expect(await listed(store, { from: NOW + 5, to: NOW + 9 })).toEqual([3, 2]);
        expect(await listed(store, { id: callbackId(4) })).toEqual([4]);
        expect(await store.callbacks.byId(callbackId(99))).toBeUndefined();
        expect(await store.callbacks.attempts(callbackId(99))).toEqual([]);
      }),
    );

    test(
      "what is owed counts until it is delivered or given up, and again when it is asked for once more",
      withStore(make, async (store) => {
        await owe(store, { number: 1, at: NOW + 2_500 });
        expect(await owed(store)).toEqual({ count: 1, oldestAt: NOW + 2_000 });
        await owe(store, { number: 2, at: NOW });
        expect(await owed(store)).toEqual({ count: 2, oldestAt: NOW });

        const [first, second] = await claim(store, { now: NOW + 3_000 });
        expect(await owed(store)).toMatchObject({ count: 2 });
        const isOlder = first?.callback.id === callbackId(2);
        const [older, younger] = isOlder ? [first, second] : [second, first];
        await store.callbacks.record(older!, OK, NOW + 3_000);
        expect(await owed(store)).toEqual({ count: 1, oldestAt: NOW + 2_000 });
        await store.callbacks.record(younger!, ERROR, NOW + 3_000, NOW + 9_000);
        expect(await owed(store)).toMatchObject({ count: 1 });

        await store.callbacks.redeliver({ accountId: ACCOUNT, id: callbackId(2), limit: 1 });
        expect(await owed(store)).toEqual({ count: 2, oldestAt: NOW });
        for (const send of await claim(store, { now: NOW + 9_000 }))
          await store.callbacks.record(send, OK, NOW + 9_000);
        expect(await owed(store)).toEqual({ count: 0, oldestAt: undefined });
      }),
    );
  });
}

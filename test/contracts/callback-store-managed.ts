import { describe, expect, test } from "bun:test";
import type { Delivery } from "../../src/domain/callback/callback.ts";
import { taskError } from "../../src/domain/errors.ts";
import type { ManagedCallbackFilter } from "../../src/domain/ports/callback-store.ts";
import type { NewTask } from "../../src/domain/task/task.ts";
import { failed } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  bySystem,
  callbackId,
  claimOne,
  keyId,
  type MakeStore,
  NOW,
  newKey,
  type StoreUnderTest,
  taskId,
  withStore,
} from "../helpers/store.ts";

const REFUSED: Delivery = { kind: "refused", status: 500 };
const LIMITS = { total: 100, perAccount: 100, perHost: 100 };

/** Ends a task that has a callback. */
async function owe(store: StoreUnderTest, number: number, at: number, task: Partial<NewTask> = {}) {
  await admit(store, { number, callbackUrl: `https://example.com/${number}`, ...task });
  const lease = await claimOne(store);
  await store.tasks.apply(lease, failed(lease.task, at, taskError("UPSTREAM_ERROR"), callbackId(number)));
}

/** The numbers of the callbacks of every page, one page after the other. */
async function paged(
  store: StoreUnderTest,
  filter: Partial<ManagedCallbackFilter> = {},
): Promise<number[][]> {
  const pages: number[][] = [];
  for (let after: ManagedCallbackFilter["after"]; ; ) {
    const { callbacks, next } = await store.callbacks.managedCallbacks({ limit: 2, after, ...filter });
    pages.push(callbacks.map(({ id }) => Number(id.slice(-6))));
    if (next === undefined) return pages;
    after = next;
  }
}

/** How every implementation of `CallbackStore` lists the callbacks of all accounts. */
export function describeManagedCallbacks(name: string, make: MakeStore): void {
  describe(`${name}: callbacks of all accounts`, () => {
    test(
      "come newest first, page by page, with whose they are",
      withStore(make, async (store) => {
        const studio = { accountId: accountId(2), keyId: keyId(2) };
        await addAccount(store, { id: studio.accountId, name: "studio" });
        await store.accounts.createKey(
          newKey({ number: 2, accountId: studio.accountId, name: "web" }),
          undefined,
          bySystem(),
        );
        await owe(store, 3, NOW);
        // Two of one millisecond: their ids decide.
        await owe(store, 1, NOW + 5, studio);
        await owe(store, 2, NOW + 5);
        expect(await paged(store)).toEqual([[2, 1], [3]]);
        const { callbacks } = await store.callbacks.managedCallbacks({ limit: 9 });
        expect(callbacks[1]).toEqual({
          ...(await store.callbacks.byId(callbackId(1)))!,
          account: { id: studio.accountId, name: "studio" },
          key: { id: studio.keyId, name: "web" },
        });
        // Keys that are gone are told by their ids.
        expect(callbacks[0]).toMatchObject({ account: { id: ACCOUNT }, key: { name: keyId(1) } });
      }),
    );

    test(
      "are narrowed by account, key, state, task and time together, down to none",
      withStore(make, async (store) => {
        const other = { accountId: accountId(2), keyId: keyId(2) };
        await addAccount(store, { id: other.accountId });
        for (const [number, at] of [
          [1, NOW],
          [2, NOW + 1],
        ] as const)
          await owe(store, number, at);
        await owe(store, 3, NOW + 2, other);
        await owe(store, 4, NOW + 3, { ...other, keyId: keyId(3) });
        const query = { now: NOW + 9, leaseMs: 1_000, limits: LIMITS, underWay: [] };
        for (const send of await store.callbacks.claim(query))
          if (["1", "3"].includes(send.callback.id.slice(-1)))
            await store.callbacks.record(send, { kind: "refused", status: 500 }, NOW + 9);
        const listed = async (filter: Partial<ManagedCallbackFilter>) => (await paged(store, filter)).flat();
        expect(await listed({ state: "failed" })).toEqual([3, 1]);
        expect(await listed({ state: "pending" })).toEqual([4, 2]);
        expect(await listed({ accountId: ACCOUNT })).toEqual([2, 1]);
        expect(await listed({ accountId: ACCOUNT, state: "failed" })).toEqual([1]);
        expect(await listed({ accountId: other.accountId, keyId: keyId(3) })).toEqual([4]);
        expect(await listed({ accountId: other.accountId, keyId: keyId(2), state: "failed" })).toEqual([3]);
        expect(await listed({ keyId: keyId(2) })).toEqual([3]);
        expect(await listed({ from: NOW + 1, to: NOW + 3 })).toEqual([3, 2]);
        expect(await listed({ from: NOW + 1, state: "failed" })).toEqual([3]);
        expect(await listed({ to: NOW, accountId: ACCOUNT })).toEqual([]);
        expect(await listed({ taskId: taskId(4) })).toEqual([4]);
        expect(await listed({ taskId: taskId(4), state: "failed" })).toEqual([]);
        expect(await listed({ id: callbackId(1), keyId: keyId(2) })).toEqual([]);
        expect(await listed({ after: callbackId(9) })).toEqual([]);
      }),
    );

    test(
      "that were given up since a moment are counted among the newest, until a redelivery arrives",
      withStore(make, async (store) => {
        for (const number of [1, 2, 3]) await owe(store, number, NOW + number);
        const query = { leaseMs: 1_000, limits: LIMITS, underWay: [] };
        const send = async (now: number, outcome: (id: string) => Delivery) => {
          for (const each of await store.callbacks.claim({ ...query, now }))
            await store.callbacks.record(each, outcome(each.callback.id), now);
        };
        await send(NOW + 9, (id) => (id === callbackId(3) ? { kind: "delivered", status: 200 } : REFUSED));
        expect(await store.callbacks.givenUp(NOW + 9, 9)).toBe(2);
        expect(await store.callbacks.givenUp(NOW + 9, 1)).toBe(1);
        expect(await store.callbacks.givenUp(NOW + 10, 9)).toBe(0);
        // A redelivery that fails gives nothing up anew.
        const again = { accountId: ACCOUNT, state: "failed", limit: 9 } as const;
        await store.callbacks.redeliver(again);
        await send(NOW + 20, (id) => (id === callbackId(2) ? { kind: "delivered", status: 200 } : REFUSED));
        expect(await store.callbacks.givenUp(NOW + 10, 9)).toBe(0);
        expect(await store.callbacks.givenUp(NOW, 9)).toBe(1);
      }),
    );
  });
}

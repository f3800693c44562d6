import { describe, expect, test } from "bun:test";
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
  });
}

import { describe, expect, test } from "bun:test";
import type { Callback } from "../../src/domain/callback.ts";
import { taskError } from "../../src/domain/errors.ts";
import { MAX_CALLBACK_SENDS } from "../../src/domain/limits.ts";
import { failed } from "../../src/domain/transition.ts";
import {
  admit,
  callbackId,
  claimOne,
  type MakeStore,
  NOW,
  type StoreUnderTest,
  withStore,
} from "../helpers/store.ts";

const LEASE_MS = 20_000;

/** Ends a task that has a callback; the callback is due at NOW. */
async function owe(store: StoreUnderTest, number = 1): Promise<void> {
  await admit(store, { number, callbackUrl: `https://example.com/${number}` });
  const lease = await claimOne(store);
  await store.tasks.apply(lease, failed(lease.task, NOW, taskError("UPSTREAM_ERROR"), callbackId(number)));
}

function claim(store: StoreUnderTest, now = NOW, limit = 10): Promise<Callback[]> {
  return store.callbacks.claim({ now, leaseMs: LEASE_MS, limit });
}

/** What every implementation of `CallbackStore` does. `makeStore` gives an empty store each time. */
export function describeCallbackStore(name: string, make: MakeStore): void {
  describe(name, () => {
    test(
      "a taken callback has its attempt counted and is taken by nobody else",
      withStore(make, async (store) => {
        await owe(store);
        expect(await store.callbacks.nextDueAt()).toBe(NOW);
        expect(await claim(store, NOW - 1)).toEqual([]);
        const [taken] = await claim(store);
        expect(taken).toMatchObject({ id: callbackId(1), attempts: 1, url: "https://example.com/1" });
        expect(await store.callbacks.byId(callbackId(1))).toEqual(taken!);
        expect(await claim(store)).toEqual([]);
        expect(await store.callbacks.nextDueAt()).toBe(NOW + LEASE_MS);
      }),
    );

    test(
      "a delivered callback is done",
      withStore(make, async (store) => {
        await owe(store);
        await claim(store);
        await store.callbacks.record(callbackId(1), 1, { kind: "delivered", status: 204 }, NOW + 5);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "delivered", attempts: 1 });
        expect(await store.callbacks.nextDueAt()).toBeUndefined();
        expect(await claim(store, NOW + 1_000_000)).toEqual([]);
      }),
    );

    test(
      "a refused callback is due again when the caller says, and given up when it says no time",
      withStore(make, async (store) => {
        await owe(store);
        await claim(store);
        await store.callbacks.record(
          callbackId(1),
          1,
          { kind: "refused", status: 500 },
          NOW + 5,
          NOW + 5_000,
        );
        expect(await store.callbacks.nextDueAt()).toBe(NOW + 5_000);
        expect(await claim(store, NOW + 4_999)).toEqual([]);
        expect(await claim(store, NOW + 5_000)).toMatchObject([{ attempts: 2 }]);
        await store.callbacks.record(callbackId(1), 2, { kind: "forbidden", reason: "private" }, NOW + 5_001);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "dead", attempts: 2 });
        expect(await claim(store, NOW + 1_000_000)).toEqual([]);
      }),
    );

    test(
      "a callback whose sender died is taken again, five times at most, and then dead",
      withStore(make, async (store) => {
        await owe(store);
        let now = NOW;
        for (let attempt = 1; attempt <= MAX_CALLBACK_SENDS; attempt++) {
          expect(await claim(store, now)).toMatchObject([{ attempts: attempt }]);
          now += LEASE_MS;
        }
        expect(await claim(store, now)).toEqual([]);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({
          state: "dead",
          attempts: MAX_CALLBACK_SENDS,
        });
        expect(await store.callbacks.nextDueAt()).toBeUndefined();
      }),
    );

    test(
      "a last attempt is not followed by another, even when a time is given",
      withStore(make, async (store) => {
        await owe(store);
        for (let attempt = 1; attempt <= MAX_CALLBACK_SENDS; attempt++) {
          const at = NOW + attempt;
          expect(await claim(store, at)).toHaveLength(1);
          await store.callbacks.record(
            callbackId(1),
            attempt,
            { kind: "unreachable", reason: "reset" },
            at,
            at + 1,
          );
        }
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "dead" });
      }),
    );

    test(
      "a late refusal of an earlier attempt changes nothing, a late delivery ends it",
      withStore(make, async (store) => {
        await owe(store);
        await claim(store);
        await claim(store, NOW + LEASE_MS);
        const before = await store.callbacks.byId(callbackId(1));
        await store.callbacks.record(callbackId(1), 1, { kind: "refused", status: 500 }, NOW + LEASE_MS + 1);
        expect(await store.callbacks.byId(callbackId(1))).toEqual(before!);
        await store.callbacks.record(
          callbackId(1),
          2,
          { kind: "delivered", status: 200 },
          NOW + LEASE_MS + 2,
        );
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "delivered" });
      }),
    );

    test(
      "the longest due are taken first, no more than the limit",
      withStore(make, async (store) => {
        for (const number of [1, 2, 3]) await owe(store, number);
        await claim(store, NOW, 1);
        expect((await claim(store, NOW, 1)).map(({ id }) => id)).toEqual([callbackId(2)]);
        expect((await claim(store, NOW)).map(({ id }) => id)).toEqual([callbackId(3)]);
      }),
    );
  });
}

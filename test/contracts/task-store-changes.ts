import { describe, expect, test } from "bun:test";
import { snoozed } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  claimOne,
  endOne,
  keyId,
  type MakeStore,
  NOW,
  type StoreUnderTest,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

/** What a reader sees who asks from `after` on: task number and status, oldest change first. */
async function seen(store: StoreUnderTest, after = 0) {
  const changes = await store.tasks.changes({ accountId: ACCOUNT, after, limit: 100 });
  return changes.map(({ task }) => `${Number(task.id.slice(-6))} ${task.status} ${task.progress}`);
}

/** How every implementation of `TaskStore` numbers changes. */
export function describeChanges(make: MakeStore): void {
  describe("changes", () => {
    test(
      "creation, start, progress and end of a task are changes, and it is there once, by its latest",
      withStore(make, async (store) => {
        expect(await store.tasks.latestChange(ACCOUNT)).toBe(0);
        await admit(store);
        expect(await seen(store)).toEqual(["1 pending 0"]);
        const lease = await submitOne(store);
        await admit(store, { number: 2 });
        expect(await seen(store)).toEqual(["1 processing 0", "2 pending 0"]);
        const from = await store.tasks.latestChange(ACCOUNT);
        const held = await claimOne(store, { now: NOW + 50, lanes: [] });
        expect(held.task.id).toBe(lease.task.id);
        await store.tasks.apply(
          held,
          snoozed(held.task, NOW, { dueAt: NOW + 60, failures: 0, progress: 40 }),
        );
        expect(await seen(store, from)).toEqual(["1 processing 40"]);
        await endOne(store, "failed");
        expect(await seen(store, from)).toEqual(["1 processing 40", "2 failed 0"]);
      }),
    );

    test(
      "a poll that brings nothing new, a renewal and a refused write are no changes",
      withStore(make, async (store) => {
        await admit(store);
        await submitOne(store);
        const before = await seenNumbers(store);
        const lease = await claimOne(store, { now: NOW + 50, lanes: [] });
        await store.tasks.renew(lease, NOW + 99);
        const nothingNew = { dueAt: NOW + 60, failures: 1 };
        await store.tasks.apply(lease, snoozed(lease.task, NOW, nothingNew));
        expect(await store.tasks.apply(lease, snoozed(lease.task, NOW, { ...nothingNew, progress: 9 }))).toBe(
          "lease_lost",
        );
        expect(await seenNumbers(store)).toEqual(before);
        const again = await claimOne(store, { now: NOW + 60, lanes: [] });
        await store.tasks.apply(again, snoozed(again.task, NOW, { ...nothingNew, progress: 0 }));
        expect(await seenNumbers(store)).toEqual(before);
      }),
    );

    test(
      "whoever asks again with the last number misses nothing, in pages of any size",
      withStore(make, async (store) => {
        for (const number of [1, 2, 3, 4, 5]) await admit(store, { number });
        await endOne(store, "completed");
        await store.tasks.requestCancel(taskId(4), ACCOUNT, NOW);
        const whole = await store.tasks.changes({ accountId: ACCOUNT, after: 0, limit: 100 });
        expect(whole.map(({ task }) => `${Number(task.id.slice(-6))} ${task.status}`)).toEqual([
          "2 pending",
          "3 pending",
          "5 pending",
          "1 completed",
          "4 cancelled",
        ]);
        for (const limit of [1, 2, 3]) {
          const paged: typeof whole = [];
          for (let after = 0; ; after = paged.at(-1)?.number ?? after) {
            const page = await store.tasks.changes({ accountId: ACCOUNT, after, limit });
            paged.push(...page);
            if (page.length < limit) break;
          }
          expect(paged).toEqual(whole);
        }
        expect(await store.tasks.latestChange(ACCOUNT)).toBe(whole.at(-1)?.number ?? 0);
      }),
    );

    test(
      "an account sees its own tasks alone, and which key created them",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        await admit(store, { number: 1 });
        await admit(store, { number: 2, keyId: keyId(7) });
        await admit(store, { number: 3, accountId: accountId(2) });
        expect(await seen(store)).toEqual(["1 pending 0", "2 pending 0"]);
        const changes = await store.tasks.changes({ accountId: ACCOUNT, after: 0, limit: 9 });
        expect(changes.map((change) => change.keyId)).toEqual([keyId(1), keyId(7)]);
        // What others do is not to be learned from what an account is told.
        expect(await store.tasks.latestChange(ACCOUNT)).toBe(changes[1]!.number);
        expect(await store.tasks.latestChange(accountId(3))).toBe(0);
      }),
    );
  });
}

async function seenNumbers(store: StoreUnderTest): Promise<number[]> {
  const changes = await store.tasks.changes({ accountId: ACCOUNT, after: 0, limit: 100 });
  return changes.map(({ number }) => number);
}

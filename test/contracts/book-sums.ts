import { describe, expect, test } from "bun:test";
import { requeued } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  attemptId,
  byHand,
  bySystem,
  claimOne,
  endOne,
  keyId,
  LANE,
  lane,
  type MakeStore,
  micros,
  NOW,
  newIntent,
  newKey,
  type StoreUnderTest,
  taskId,
  withStore,
} from "../helpers/store.ts";

const DAY_MS = 86_400_000;
const ALL = { removedBefore: NOW + 10 * DAY_MS, limit: 10 };

/** What every report says, of all accounts, of one, and of one that there is not. */
function usageOf({ usage }: StoreUnderTest) {
  const splits = [{ by: "provider" }, { by: "key", and: "day" }, { by: "model" }, { by: "account" }] as const;
  const accounts = [undefined, ACCOUNT, accountId(9)];
  return Promise.all(
    accounts.flatMap((account) =>
      splits.map((split) => usage.report({ from: 0, to: 100_000, accountId: account, ...split })),
    ),
  );
}

/** Task 1 was lost by one provider, rejected at a price by another, and completed by a third; 2 and 4 completed, 3 failed. */
async function keepBooks(store: StoreUnderTest): Promise<void> {
  await store.accounts.createKey(newKey(), undefined, bySystem());
  for (const number of [1, 2, 3, 4]) await admit(store, { number });
  const losses = [
    { id: attemptId(98), lane: lane("lost"), state: "ambiguous" },
    { id: attemptId(99), lane: lane("dear"), state: "rejected", costMicros: micros(7) },
  ] as const;
  for (const { lane: at, ...attempt } of losses) {
    const lease = await claimOne(store, { limit: 1 });
    await store.tasks.begin(lease, newIntent({ id: attempt.id, lane: at }));
    const again = requeued(NOW, { dueAt: NOW, failures: 0, lane: LANE, routeIndex: 0 });
    await store.tasks.apply(lease, { ...again, attempt });
  }
  await endOne(store, "completed", { at: NOW, cost: micros(15_000) });
  await endOne(store, "completed", { at: NOW + 1, cost: micros(5) });
  await endOne(store, "failed", { at: NOW + DAY_MS });
  await endOne(store, "completed", { at: NOW + DAY_MS });
  await store.accounts.refund(taskId(2), micros(7), "sorry", byHand(NOW));
}

const ledgerOf = (store: StoreUnderTest) => store.accounts.ledgerPage(ACCOUNT, { limit: 99 });

export function describeBookSums(name: string, make: MakeStore): void {
  describe(name, () => {
    test(
      "what the books say of removed tasks becomes sums, and every report stays what it was",
      withStore(make, async (store) => {
        await keepBooks(store);
        for (const number of [1, 2, 3]) await store.retention.remove(taskId(number), NOW + 5);
        const [usage, account] = [await usageOf(store), await store.accounts.account(ACCOUNT)];
        const [newest] = await ledgerOf(store);
        // The fourth is not removed.
        await store.retention.sumUp([taskId(1), taskId(2), taskId(4)]);
        expect(await usageOf(store)).toEqual(usage);
        expect(await store.accounts.account(ACCOUNT)).toEqual(account);
        const rows = await ledgerOf(store);
        expect(rows[0]?.balance).toBe(newest?.balance ?? micros(0));
        const sums = rows.filter(({ entries }) => entries !== undefined);
        expect(sums.map((row) => [row.kind, row.entries, row.taskId, Number(row.balanceDelta)])).toEqual(
          expect.arrayContaining([
            ["hold", 2, undefined, 0],
            ["capture", 2, undefined, -80_000],
            ["refund", 1, undefined, 7],
          ]),
        );
        expect(sums).toHaveLength(3);
        expect(rows.filter(({ taskId: id }) => id === taskId(1))).toEqual([]);
        const refund = await store.accounts.refund(taskId(1), undefined, "late", byHand(NOW));
        expect(refund).toEqual({ kind: "not_found" });
      }),
    );

    test(
      "the sum of a day and a kind grows",
      withStore(make, async (store) => {
        await keepBooks(store);
        const usage = await usageOf(store);
        for (const number of [1, 2, 3, 4]) await store.retention.remove(taskId(number), NOW + 5);
        await admit(store, { number: 5 });
        for (const number of [4, 1, 3, 2]) await store.retention.sumUp([taskId(number)]);
        expect(await usageOf(store)).toEqual(usage);
        const sums = (await ledgerOf(store)).filter(({ entries }) => entries !== undefined);
        const hold = sums.filter(({ kind }) => kind === "hold");
        expect(hold.map(({ entries, heldDelta }) => [entries, Number(heldDelta)])).toEqual([[4, 160_000]]);
      }),
    );

    test(
      "removed tasks are looked at in the order in which they were removed, page by page",
      withStore(make, async (store) => {
        await keepBooks(store);
        await admit(store, { number: 5 });
        for (const [i, number] of [3, 1, 2].entries())
          await store.retention.remove(taskId(number), NOW + 5 + Math.min(i, 1));
        expect(await store.retention.removed({ ...ALL, removedBefore: NOW + 5 })).toEqual({ due: [] });
        const first = await store.retention.removed({ ...ALL, limit: 2 });
        expect(first).toMatchObject({ due: [taskId(3), taskId(1)], place: { at: NOW + 6 } });
        expect(await store.retention.removed({ ...ALL, after: first.place })).toEqual({ due: [taskId(2)] });
      }),
    );

    test(
      "the latest task stays, and the latest change of each account, so that their numbers are given once",
      withStore(make, async (store) => {
        const other = accountId(2);
        await addAccount(store, { id: other, name: "other" });
        await admit(store, { number: 1, accountId: other, keyId: keyId(2) });
        await endOne(store, "completed", { at: NOW });
        await admit(store, { number: 2 });
        await endOne(store, "completed", { at: NOW });
        const latest = () => Promise.all([ACCOUNT, other].map((id) => store.tasks.latestChange(id)));
        const before = await latest();
        for (const number of [1, 2]) await store.retention.remove(taskId(number), NOW);
        expect((await store.retention.removed(ALL)).due).toEqual([]);
        await store.retention.sumUp([taskId(1), taskId(2)]);
        expect(await latest()).toEqual(before);
        await admit(store, { number: 3, accountId: other, keyId: keyId(2) });
        expect((await store.retention.removed(ALL)).due).toEqual([taskId(1)]);
      }),
    );
  });
}

import { describe, expect, test } from "bun:test";
import type { ModelId } from "../../src/domain/ids.ts";
import { POSTPONED_AT_ONCE } from "../../src/domain/ports/claims.ts";
import { requeued } from "../../src/domain/task/transition.ts";
import {
  accountId,
  addAccount,
  admit,
  claimOne,
  claimQuery,
  LANE,
  lane,
  type MakeStore,
  NOW,
  newIntent,
  newTask,
  type StoreUnderTest,
  taskId,
  withStore,
} from "../helpers/store.ts";

const LATER = NOW + 30_000;

export function describePostpone(make: MakeStore): void {
  describe("postpone", () => {
    test(
      "ready tasks of the same account, model, lane and setup are due later, and no others",
      withStore(make, async (store) => {
        const other = accountId(2);
        await addAccount(store, { id: other });
        await admit(store, { number: 1 });
        await claimOne(store);
        for (const number of [2, 3]) await admit(store, { number });
        await admit(store, { number: 4, model: "other" as ModelId });
        await admit(store, { number: 5, accountId: other });
        await admit(store, { number: 6, lane: lane("second") });
        await admit(store, { number: 7, setup: "weights" });
        expect(await store.tasks.postpone(newTask(), LATER)).toBe(2);
        expect(await claimed(store, NOW)).toEqual([4, 5, 6, 7]);
        expect(await claimed(store, LATER - 1)).toEqual([]);
        // The lease of the first one is over, too.
        expect(await claimed(store, LATER)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      }),
    );

    test(
      "a task that was begun before keeps its time",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        const intent = newIntent();
        await store.tasks.begin(lease, intent);
        const again = { dueAt: NOW, failures: 1, lane: LANE, routeIndex: 0 };
        const rejected = { attempt: intent.id, detail: "busy" };
        await store.tasks.apply(lease, requeued(NOW, again, rejected));
        await admit(store, { number: 2 });
        await claimed(store, NOW, 0);
        expect(await store.tasks.postpone(newTask({ number: 3 }), LATER)).toBe(0);
        expect(await store.tasks.postpone(newTask({ number: 2 }), LATER)).toBe(1);
        expect(await claimed(store, NOW)).toEqual([1]);
      }),
    );

    test(
      "it looks at so many of the account's next tasks",
      withStore(make, async (store) => {
        const tasks = Array.from({ length: POSTPONED_AT_ONCE + 2 }, (_, i) => newTask({ number: i + 1 }));
        await store.tasks.admitAll(tasks.map((task) => ({ task, assets: [] })));
        expect(await store.tasks.postpone(newTask(), LATER)).toBe(POSTPONED_AT_ONCE);
        expect(await claimed(store, NOW)).toEqual([POSTPONED_AT_ONCE + 1, POSTPONED_AT_ONCE + 2]);
      }),
    );
  });
}

/** The numbers of the tasks that are claimed then. */
async function claimed(store: StoreUnderTest, now: number, capacity = 1000): Promise<number[]> {
  const lanes = [LANE, lane("second")].map((each) => ({ lane: each, capacity }));
  const { leases } = await store.tasks.claim(claimQuery({ now, lanes }));
  const ids = leases.map(({ task }) => task.id);
  return ids.map((id) => Number(id.slice(taskId(1).indexOf("_") + 1))).sort((a, b) => a - b);
}

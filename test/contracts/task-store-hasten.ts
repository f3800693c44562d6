import { describe, expect, test } from "bun:test";
import type { ModelId } from "../../src/domain/ids.ts";
import { POSTPONED_AT_ONCE } from "../../src/domain/ports/claims.ts";
import { requeued } from "../../src/domain/task/transition.ts";
import {
  admit,
  claimOne,
  claimQuery,
  LANE,
  lane,
  type MakeStore,
  NOW,
  newTask,
  type StoreUnderTest,
  withStore,
} from "../helpers/store.ts";

const LATER = NOW + 30_000;
const MODEL = newTask().model;
const OTHER = "other" as ModelId;
const SECOND = lane("second");

export function describeHasten(make: MakeStore): void {
  describe("hasten", () => {
    test(
      "tasks of these models that wait in the lane are due now, and no others",
      withStore(make, async (store) => {
        await waits(store, { number: 1 });
        await waits(store, { number: 2, model: OTHER });
        await waits(store, { number: 3, lane: SECOND });
        await waits(store, { number: 4 }, 1);
        expect(await claimed(store, NOW)).toEqual([]);
        expect(await store.tasks.hasten({ lane: LANE, models: [MODEL, "none" as ModelId] }, NOW)).toBe(1);
        expect(await claimed(store, NOW)).toEqual([newTask({ number: 1 }).id]);
        expect(await store.tasks.hasten({ lane: LANE, models: [] }, NOW)).toBe(0);
        expect(await claimed(store, LATER - 1)).toEqual([]);
        expect(await claimed(store, LATER)).toHaveLength(4);
      }),
    );

    test(
      "it looks at so many of the lane's next tasks",
      withStore(make, async (store) => {
        const tasks = Array.from({ length: POSTPONED_AT_ONCE + 1 }, (_, i) => newTask({ number: i + 1 }));
        await store.tasks.admitAll(tasks.map((task) => ({ task, assets: [] })));
        for (const until of [LATER, LATER + 1]) await store.tasks.postpone(newTask(), until);
        expect(await store.tasks.hasten({ lane: LANE, models: [MODEL] }, NOW)).toBe(POSTPONED_AT_ONCE);
        expect(await claimed(store, NOW)).toHaveLength(POSTPONED_AT_ONCE);
      }),
    );
  });
}

/** Stores a task that is due later, after so many failures. */
async function waits(store: StoreUnderTest, fields: Parameters<typeof newTask>[0], failures = 0) {
  await admit(store, fields);
  const task = newTask(fields);
  const lease = await claimOne(store, { lanes: [{ lane: task.lane, capacity: 9 }] });
  await store.tasks.apply(lease, requeued(NOW, { dueAt: LATER, failures, lane: task.lane, routeIndex: 0 }));
}

async function claimed(store: StoreUnderTest, now: number) {
  const lanes = [LANE, SECOND].map((each) => ({ lane: each, capacity: 1000 }));
  const { leases } = await store.tasks.claim(claimQuery({ now, lanes, limit: 1000 }));
  return leases.map(({ task }) => task.id).sort();
}

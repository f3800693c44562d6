import { describe, expect, test } from "bun:test";
import { taskError } from "../../src/domain/errors.ts";
import { failed } from "../../src/domain/task/transition.ts";
import {
  admit,
  attemptId,
  callbackId,
  claimOne,
  LANE,
  lane,
  type MakeStore,
  micros,
  NOW,
  newIntent,
  type StoreUnderTest,
  taskId,
  withStore,
} from "../helpers/store.ts";

const OTHER = lane("other");

/** A task that ended at this time, with an attempt in this state. */
async function end(
  store: StoreUnderTest,
  number: number,
  at: number,
  state: "ambiguous" | "done",
  own = LANE,
) {
  await admit(store, { number, lane: own });
  const lease = await claimOne(store, { lanes: [{ lane: own, capacity: 9 }] });
  await store.tasks.begin(lease, newIntent({ id: attemptId(number), lane: own }));
  const attempt = { id: attemptId(number), state, costMicros: micros(30), detail: "No answer." };
  await store.tasks.apply(
    { ...lease, task: { ...lease.task, stage: "submitting" } },
    failed(
      { ...lease.task, stage: "submitting" },
      at,
      taskError("OUTCOME_UNKNOWN"),
      callbackId(number),
      attempt,
    ),
  );
}

export function describeLostAttempts(make: MakeStore): void {
  describe("lost attempts", () => {
    test(
      "are those without an answer whose tasks have ended, of the lanes asked for and since then, the newest first",
      withStore(make, async (store) => {
        await end(store, 1, NOW, "ambiguous");
        await end(store, 2, NOW + 5, "ambiguous");
        await end(store, 3, NOW + 6, "done");
        await end(store, 4, NOW + 7, "ambiguous", OTHER);
        await admit(store, { number: 5 });
        await store.tasks.begin(await claimOne(store), newIntent({ id: attemptId(5) }));
        const found = async (lanes: readonly (typeof LANE)[], since: number) =>
          (await store.tasks.lostAttempts(lanes, since)).map(({ task, attempt }) => [task.id, attempt.id]);
        expect(await found([LANE], NOW + 5)).toEqual([[taskId(2), attemptId(2)]]);
        expect(await found([LANE, OTHER], NOW)).toEqual(
          [4, 2, 1].map((number) => [taskId(number), attemptId(number)]),
        );
        expect(await found([], NOW)).toEqual([]);
      }),
    );

    test(
      "are settled once, and keep what is not told",
      withStore(make, async (store) => {
        await end(store, 1, NOW, "ambiguous");
        await end(store, 2, NOW, "ambiguous");
        await store.tasks.settleLost(attemptId(1), { state: "done", detail: "Made." });
        await store.tasks.settleLost(attemptId(2), {
          state: "rejected",
          costMicros: micros(0),
          detail: "Never came.",
        });
        await store.tasks.settleLost(attemptId(2), {
          state: "done",
          costMicros: micros(9),
          detail: "Again.",
        });
        expect(await store.tasks.attempts(taskId(1))).toMatchObject([
          { state: "done", costMicros: 30, detail: "Made.", endedAt: NOW } as never,
        ]);
        expect(await store.tasks.attempts(taskId(2))).toMatchObject([
          { state: "rejected", costMicros: 0, detail: "Never came." } as never,
        ]);
        expect(await store.tasks.lostAttempts([LANE], 0)).toEqual([]);
      }),
    );
  });
}

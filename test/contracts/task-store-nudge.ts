import { describe, expect, test } from "bun:test";
import { taskError } from "../../src/domain/errors.ts";
import { failed, passedOn, snoozed, submitted } from "../../src/domain/task/transition.ts";
import {
  admit,
  attemptId,
  beginOne,
  callbackId,
  claimOne,
  claimQuery,
  LANE,
  type MakeStore,
  NOW,
  newIntent,
  snapshot,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

export function describeNudge(make: MakeStore): void {
  describe("nudge", () => {
    test(
      "a running task is due at that time, and nothing else of it changes",
      withStore(make, async (store) => {
        await admit(store);
        await submitOne(store);
        const before = await snapshot(store);
        expect(await store.tasks.nudge(attemptId(1), NOW + 20)).toBe("nudged");
        expect(await snapshot(store)).toEqual(before);
        expect(await store.tasks.claim(claimQuery({ now: NOW + 19 }))).toMatchObject({
          leases: [],
          nextDueAt: NOW + 20,
        });
        await claimOne(store, { now: NOW + 20 });
      }),
    );

    test(
      "a task that is due sooner is not put off",
      withStore(make, async (store) => {
        await admit(store);
        await submitOne(store);
        expect(await store.tasks.nudge(attemptId(1), NOW + 1_000)).toBe("nudged");
        await claimOne(store, { now: NOW + 50 });
      }),
    );

    test(
      "a task that somebody works on keeps its lease, from the submission on",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        expect(await store.tasks.nudge(attemptId(1), NOW)).toBe("leased");
        await store.tasks.apply(lease, submitted(NOW, attemptId(1), { job: "u1" }, NOW + 50));
        const again = await claimOne(store, { now: NOW + 50 });
        expect(await store.tasks.nudge(attemptId(1), NOW + 51)).toBe("leased");
        expect((await store.tasks.claim(claimQuery({ now: NOW + 60 }))).leases).toEqual([]);
        expect(await store.tasks.renew(again, NOW + 90_000)).toBe("renewed");
      }),
    );

    test(
      "a question that failed is not repeated sooner",
      withStore(make, async (store) => {
        await admit(store);
        await submitOne(store);
        const lease = await claimOne(store, { now: NOW + 50 });
        await store.tasks.apply(lease, snoozed(lease.task, NOW + 50, { dueAt: NOW + 900, failures: 1 }));
        expect(await store.tasks.nudge(attemptId(1), NOW + 60)).toBe("idle");
        expect((await store.tasks.claim(claimQuery({ now: NOW + 899 }))).leases).toEqual([]);
      }),
    );

    test(
      "an attempt that is over or unknown moves nothing, also while its task goes on elsewhere",
      withStore(make, async (store) => {
        await admit(store);
        await submitOne(store);
        const first = await claimOne(store, { now: NOW + 50 });
        const onward = { lane: LANE, routeIndex: 1 };
        await store.tasks.apply(first, passedOn(NOW + 50, onward, { id: attemptId(1), detail: "failed" }));
        const second = await claimOne(store, { now: NOW + 50 });
        await store.tasks.begin(second, newIntent({ id: attemptId(3) }));
        await store.tasks.apply(second, submitted(NOW + 50, attemptId(3), { job: "u2" }, NOW + 90));
        expect(await store.tasks.nudge(attemptId(1), NOW + 60)).toBe("idle");
        expect((await store.tasks.claim(claimQuery({ now: NOW + 89 }))).leases).toEqual([]);
        const lease = await claimOne(store, { now: NOW + 90 });
        const end = { id: attemptId(3), state: "done" } as const;
        const over = failed(lease.task, NOW + 90, taskError("UPSTREAM_ERROR"), callbackId(1), end);
        await store.tasks.apply(lease, over);
        const before = await snapshot(store);
        expect(await store.tasks.nudge(attemptId(3), NOW + 99)).toBe("idle");
        expect(await store.tasks.nudge(attemptId(2), NOW + 99)).toBe("idle");
        expect(await snapshot(store)).toEqual(before);
      }),
    );

    test(
      "an attempt is read by its id",
      withStore(make, async (store) => {
        await admit(store);
        await submitOne(store);
        const [attempt] = await store.tasks.attempts(taskId(1));
        expect(await store.tasks.attempt(attemptId(1))).toEqual(attempt);
        expect(await store.tasks.attempt(attemptId(2))).toBeUndefined();
      }),
    );
  });
}

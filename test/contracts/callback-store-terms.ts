import { describe, expect, test } from "bun:test";
import type { CallbackTerms } from "../../src/domain/callback/callback.ts";
import { taskError } from "../../src/domain/errors.ts";
import { MAX_CALLBACK_ATTEMPTS } from "../../src/domain/limits.ts";
import { failed, snoozed } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  admit,
  attemptId,
  beginOne,
  callbackId,
  claimOne,
  claimQuery,
  endOne,
  type MakeStore,
  NOW,
  newIntent,
  newTask,
  type StoreUnderTest,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

const ALL = ["started", "progressed", "completed", "failed", "cancelled"] as const;
const terms = (given: Partial<CallbackTerms> = {}): CallbackTerms => ({
  ...{ form: "other", events: ALL, attempts: 7, options: { told: true } },
  ...given,
});
const URL = "https://example.com/1";
const LIMITS = { total: 9, perAccount: 9, perHost: 9 };

const claim = (store: StoreUnderTest, now: number) =>
  store.callbacks.claim({ now, leaseMs: 10, limits: LIMITS, underWay: [] });
const eventsOf = async (store: StoreUnderTest) =>
  (await store.callbacks.list({ accountId: ACCOUNT, taskId: taskId(1), limit: 10 })).map(
    ({ event }) => event,
  );

/** What a store does for tasks whose callbacks have a form of their own. */
export function describeCallbackTerms(name: string, make: MakeStore): void {
  describe(`${name}: callbacks in another form`, () => {
    test(
      "the terms of a task stay with it, and its callback has their form",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: URL, callbackTerms: terms({ events: ["completed"] }) });
        await endOne(store, "completed");
        expect((await store.tasks.byId(taskId(1)))?.callbackTerms).toEqual(terms({ events: ["completed"] }));
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({
          ...{ event: "completed", form: "other", mostAttempts: 7, state: "pending" },
        });
      }),
    );

    for (const status of ["completed", "failed", "cancelled"] as const)
      test(
        `a task that is ${status} is told of where its terms say so, and nowhere else`,
        withStore(make, async (store) => {
          await admit(store, { number: 1, callbackUrl: URL, callbackTerms: terms({ events: [status] }) });
          await endOne(store, status);
          expect(await eventsOf(store)).toEqual([status]);
          const others = ALL.filter((event) => event !== status);
          await admit(store, { number: 2, callbackUrl: URL, callbackTerms: terms({ events: others }) });
          await endOne(store, status);
          const told = await store.callbacks.list({ accountId: ACCOUNT, taskId: taskId(2), limit: 10 });
          expect(told.map(({ event }) => event)).toEqual(["started"]);
        }),
      );

    test(
      "a task that is cancelled in the queue is told of in the transaction that ends it",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: URL, callbackTerms: terms() });
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW)).toBe("cancelled");
        expect(await eventsOf(store)).toEqual(["cancelled"]);
        expect(await store.callbacks.hasDue(NOW)).toBe(true);
      }),
    );

    for (const last of ["completed", "failed", "cancelled"] as const)
      test(
        `a group's end is told of once, by its last task, here ${last}, and by no earlier one`,
        withStore(make, async (store) => {
          const group = { policy: "all", tasks: [1, 2, 3].map(taskId), callbackUrl: URL } as const;
          const ofGroup = () => store.callbacks.list({ accountId: ACCOUNT, limit: 10 });
          for (const number of [1, 2, 3])
            await admit(store, { number, request: { ...newTask().request, group } });
          await endOne(store, "completed");
          expect(await store.tasks.requestCancel(taskId(3), ACCOUNT, NOW)).toBe("cancelled");
          expect(await ofGroup()).toEqual([]);
          await endOne(store, last);
          expect(await ofGroup()).toMatchObject([
            {
              ...{ taskId: taskId(2), event: "group_ended", form: "group", url: URL },
              ...{ state: "pending", attempts: 0, mostAttempts: undefined },
            },
          ]);
          expect(await store.callbacks.hasDue(NOW)).toBe(true);
        }),
      );

    test(
      "however a group's tasks end, at once or cancelled meanwhile, its end is told of once",
      withStore(make, async (store) => {
        const group = { policy: "all", tasks: [1, 2, 3, 4].map(taskId), callbackUrl: URL } as const;
        for (const number of [1, 2, 3, 4])
          await admit(store, { number, request: { ...newTask().request, group } });
        const { leases } = await store.tasks.claim(claimQuery({ limit: 2 }));
        const ends = leases.map((lease, i) =>
          store.tasks.apply(lease, failed(lease.task, NOW, taskError("UPSTREAM_ERROR"), callbackId(i + 1))),
        );
        const cancels = [1, 2, 3, 4].map((number) => store.tasks.requestCancel(taskId(number), ACCOUNT, NOW));
        const again = [3, 4].map((number) => store.tasks.requestCancel(taskId(number), ACCOUNT, NOW));
        await Promise.all([...ends, ...cancels, ...again]);
        const statuses = await Promise.all(group.tasks.map((id) => store.tasks.summary(id)));
        expect(statuses.map((each) => each?.status)).toEqual(["failed", "failed", "cancelled", "cancelled"]);
        const told = await store.callbacks.list({ accountId: ACCOUNT, limit: 10 });
        expect(told.map(({ event }) => event)).toEqual(["group_ended"]);
      }),
    );

    test(
      "a group's end is told of where its last task is cancelled in the queue, and other tasks are deleted",
      withStore(make, async (store) => {
        const group = { policy: "all", tasks: [1, 2].map(taskId), callbackUrl: URL } as const;
        for (const number of [1, 2]) await admit(store, { number, request: { ...newTask().request, group } });
        await endOne(store, "completed");
        expect((await store.retention.remove(taskId(1), NOW, ACCOUNT)).kind).toBe("removed");
        expect(await store.tasks.requestCancel(taskId(2), ACCOUNT, NOW)).toBe("cancelled");
        expect(await store.callbacks.list({ accountId: ACCOUNT, limit: 10 })).toMatchObject([
          { taskId: taskId(2), event: "group_ended" },
        ]);
      }),
    );

    test(
      "a group's end is told of by another of its tasks where the last one is deleted before, and by none once all are",
      withStore(make, async (store) => {
        const group = { policy: "all", tasks: [1, 2, 3].map(taskId), callbackUrl: URL } as const;
        for (const number of [1, 2, 3])
          await admit(store, { number, request: { ...newTask().request, group } });
        for (const number of [1, 2, 3])
          expect(await store.tasks.requestCancel(taskId(number), ACCOUNT, NOW)).toBe("cancelled");
        const told = async () =>
          (await store.callbacks.list({ accountId: ACCOUNT, limit: 10 })).map((each) => each.taskId);
        expect(await told()).toEqual([taskId(3)]);
        await store.retention.remove(taskId(1), NOW, ACCOUNT);
        await store.retention.remove(taskId(3), NOW, ACCOUNT);
        expect(await told()).toEqual([taskId(2)]);
        expect(await store.callbacks.hasDue(NOW)).toBe(true);
        await store.retention.remove(taskId(2), NOW, ACCOUNT);
        expect(await told()).toEqual([]);
      }),
    );

    test(
      "a beginning is told of once, by a claim that begins it too",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: URL, callbackTerms: terms() });
        await beginOne(store);
        expect(await eventsOf(store)).toEqual(["started"]);
        await admit(store, { number: 2, callbackUrl: URL, callbackTerms: terms() });
        await store.tasks.claim(claimQuery({ intentFor: () => newIntent({ id: attemptId(2) }) }));
        const told = await store.callbacks.list({ accountId: ACCOUNT, taskId: taskId(2), limit: 10 });
        expect(told.map(({ event }) => event)).toEqual(["started"]);
      }),
    );

    test(
      "progress is told of where it is more than before",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: URL, callbackTerms: terms({ events: ["progressed"] }) });
        await submitOne(store);
        for (const [i, progress] of [10, 10, undefined, 30].entries()) {
          const now = NOW + 50 * (i + 1);
          const lease = await claimOne(store, { now });
          const again = { dueAt: now + 50, failures: 0, progress };
          await store.tasks.apply(
            lease,
            snoozed(lease.task, now, again, () => callbackId(i + 1)),
          );
        }
        const told = await store.callbacks.list({ accountId: ACCOUNT, taskId: taskId(1), limit: 10 });
        expect(told.map(({ id }) => id)).toEqual([callbackId(4), callbackId(1)]);
        const last = { accountId: ACCOUNT, taskId: taskId(1), limit: 10, after: callbackId(4) };
        expect((await store.callbacks.list(last)).map(({ id }) => id)).toEqual([callbackId(1)]);
      }),
    );

    test(
      "a callback gets as many attempts as its terms say, more than our own form's",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: URL, callbackTerms: terms({ events: ["failed"] }) });
        await endOne(store, "failed");
        let [now, sends] = [NOW, 0];
        for (; (await claim(store, now)).length > 0; now += 10) sends += 1;
        expect(sends).toBe(7);
        expect(sends).toBeGreaterThan(MAX_CALLBACK_ATTEMPTS);
        expect(await store.callbacks.byId(callbackId(1))).toMatchObject({ state: "failed", attempts: 7 });
      }),
    );

    test(
      "all callbacks of a task are redelivered, and go with it",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: URL, callbackTerms: terms() });
        const { task } = await beginOne(store);
        const lease = await claimOne(store, { now: NOW + 30_000 });
        await store.tasks.apply(lease, failed(task, NOW, taskError("UPSTREAM_ERROR"), callbackId(5)));
        expect(await eventsOf(store)).toEqual(["failed", "started"]);
        for (const send of await claim(store, NOW))
          await store.callbacks.record(send, { kind: "delivered", status: 200 }, NOW);
        const asked = await store.callbacks.redeliver({ accountId: ACCOUNT, taskId: taskId(1), limit: 10 });
        expect(asked.map(({ isRedeliveryDue }) => isRedeliveryDue)).toEqual([true, true]);
        // One that is still to be sent keeps the others.
        await store.retention.expire(["callbacks"], [taskId(1)], NOW + 1);
        expect(await eventsOf(store)).toHaveLength(2);
        await store.retention.remove(taskId(1), NOW + 1);
        expect(await eventsOf(store)).toEqual([]);
        expect(await store.callbacks.hasDue(NOW + 1_000_000)).toBe(false);
      }),
    );
  });
}

import { describe, expect, test } from "bun:test";
import { taskError } from "../../src/domain/errors.ts";
import { failed, snoozed, submitted } from "../../src/domain/task/transition.ts";
import {
  admit,
  attemptId,
  beginOne,
  callbackId,
  claimOne,
  claimQuery,
  type MakeStore,
  NOW,
  newIntent,
  newTask,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

/** As `newIntent` and `submitOne` have them. */
const DEADLINE_AT = NOW + 600_000;
const HOUR_MS = 3_600_000;
const LONGEST = { taskMs: 600_000, callbackMs: HOUR_MS };

export function describeTimeStore(name: string, make: MakeStore): void {
  describe(name, () => {
    test(
      "nothing is known of a service that never had a task, and its beats are kept",
      withStore(make, async ({ time }) => {
        expect([await time.lastBeat(), await time.hasLiveTasks()]).toEqual([undefined, false]);
        expect(await time.beat(NOW + 5)).toBe(0);
        expect(await time.lastBeat()).toBe(NOW + 5);
      }),
    );

    test(
      "a task that began after the last beat counts as one",
      withStore(make, async (store) => {
        await store.time.beat(NOW - HOUR_MS);
        await admit(store);
        await submitOne(store);
        expect([await store.time.lastBeat(), await store.time.hasLiveTasks()]).toEqual([NOW, true]);
      }),
    );

    test(
      "lost time moves the deadline of a live task, but not by time before it began",
      withStore(make, async (store) => {
        await admit(store, { number: 1 });
        await submitOne(store);
        expect(await store.time.beat(NOW + 50_000, NOW + 20_000)).toBe(1);
        expect(await store.time.deadlineOf(taskId(1))).toBe(DEADLINE_AT + 30_000);
        expect(await store.time.beat(NOW + 60_000, NOW - HOUR_MS)).toBe(1);
        expect(await store.time.deadlineOf(taskId(1))).toBe(DEADLINE_AT + 30_000 + 60_000);
        await admit(store, { number: 2 });
        expect(await store.time.deadlineOf(taskId(2))).toBeUndefined();
      }),
    );

    test(
      "a step of the clock moves what live work waits for and is measured from, once a task has ended its callback alone",
      withStore(make, async (store) => {
        const callbackUrl = "https://example.com/1";
        await admit(store, { number: 1, callbackUrl });
        const lease = await claimOne(store);
        const error = taskError("UPSTREAM_ERROR");
        await store.tasks.apply(lease, failed(lease.task, NOW, error, callbackId(1)));
        await admit(store, { number: 2 });
        const { leases } = await store.tasks.claim(claimQuery());
        await store.tasks.begin(leases[0]!, newIntent());
        await store.tasks.apply(leases[0]!, submitted(NOW, attemptId(1), { job: 1 }, NOW + 50));
        await store.time.beat(NOW);
        const ended = await store.tasks.byId(taskId(1));

        expect(await store.time.move(-HOUR_MS)).toEqual({ tasks: 1, callbacks: 1 });
        expect(await store.tasks.byId(taskId(1))).toEqual(ended!);
        expect(await store.tasks.byId(taskId(2))).toMatchObject({
          createdAt: NOW,
          startedAt: NOW - HOUR_MS,
          deadlineAt: DEADLINE_AT - HOUR_MS,
        });
        expect(await store.tasks.attempts(taskId(2))).toMatchObject([{ startedAt: NOW - HOUR_MS }]);
        expect(await store.time.lastBeat()).toBe(NOW - HOUR_MS);
        expect((await store.callbacks.byId(callbackId(1)))?.dueAt).toBe(NOW - HOUR_MS);
        const due = { now: NOW - HOUR_MS + 50 };
        expect((await store.tasks.claim(claimQuery(due))).leases).toHaveLength(1);
      }),
    );

    test(
      "a step of the clock moves when live tasks are to be cancelled, and nothing else of their requests",
      withStore(make, async (store) => {
        const { request } = newTask();
        // A lone surrogate is JSON, but no database takes it for text.
        const prompt = 'say "cancelAt":5 \ud83d';
        await admit(store, { number: 1, request: { ...request, prompt, cancelAt: NOW + 60_000 } });
        await admit(store, { number: 2, request });
        for (const byMs of [HOUR_MS, -2 * HOUR_MS]) await store.time.move(byMs);
        const moved = await store.tasks.timed();
        expect(moved.map(({ id, cancelAt }) => [id, cancelAt])).toEqual([
          [taskId(1), NOW + 60_000 - HOUR_MS],
        ]);
        const asked = { ...request, prompt, cancelAt: NOW + 60_000 - HOUR_MS };
        expect((await store.tasks.byId(taskId(1)))?.request).toEqual(asked);
        expect((await store.tasks.byId(taskId(2)))?.request).toEqual(request);
      }),
    );

    test(
      "writes asked for before a step are moved along, those asked for after it are not",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        const operation = { job: 1 };
        const before = store.tasks.apply(lease, submitted(NOW, attemptId(1), operation, NOW + 50));
        const moved = store.time.move(HOUR_MS);
        const deadlineAt = store.time.deadlineOf(taskId(1));
        expect(await Promise.all([before, moved, deadlineAt])).toEqual([
          "applied",
          { tasks: 1, callbacks: 0 },
          DEADLINE_AT + HOUR_MS,
        ]);
        const { leases } = await store.tasks.claim(claimQuery({ now: NOW + HOUR_MS + 49 }));
        expect(leases).toEqual([]);
      }),
    );

    test(
      "what would wait longer than anything may is due now, but not what somebody works on",
      withStore(make, async (store) => {
        await admit(store, { number: 1 });
        const lease = await beginOne(store);
        await store.tasks.apply(
          lease,
          snoozed({ ...lease.task, stage: "submitting" }, NOW, { dueAt: NOW + 600_000, failures: 0 }),
        );
        expect(await store.time.hurry(NOW, LONGEST)).toEqual({ tasks: 0, callbacks: 0 });
        expect(await store.time.hurry(NOW - 1, LONGEST)).toEqual({ tasks: 1, callbacks: 0 });
        await claimOne(store, { leaseMs: HOUR_MS });
        expect(await store.time.hurry(NOW, LONGEST)).toEqual({ tasks: 0, callbacks: 0 });
      }),
    );
  });
}

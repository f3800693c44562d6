import { describe, expect, test } from "bun:test";
import { taskError } from "../../src/domain/errors.ts";
import {
  failed,
  outputsReady,
  requeued,
  snoozed,
  submitted,
  unanswered,
} from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  accountId,
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

export function describeCancel(make: MakeStore): void {
  describe("requestCancel", () => {
    test(
      "a queued task is cancelled at once and its hold released",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: "https://example.com/hook" });
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 3)).toBe("cancelled");
        expect(await store.tasks.byId(taskId(1))).toMatchObject({
          status: "cancelled",
          stage: "terminal",
          charged: 0,
          completedAt: NOW + 3,
        });
        expect(await store.accounts.account(ACCOUNT)).toMatchObject({ balance: 0, held: 0 });
        expect((await store.accounts.ledger(ACCOUNT)).map(({ kind }) => kind)).toEqual(["hold", "release"]);
        expect(await store.callbacks.nextDueAt()).toBeUndefined();
        expect(await store.tasks.claim(claimQuery())).toEqual({
          leases: [],
          nextDueAt: undefined,
          room: "all",
          isQueueEmpty: true,
        });
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 4)).toBe("already_final");
      }),
    );

    test(
      "a task of somebody else, and one that is not there, are not found",
      withStore(make, async (store) => {
        await admit(store);
        const before = await snapshot(store);
        expect(await store.tasks.requestCancel(taskId(1), accountId(2), NOW)).toBe("not_found");
        expect(await store.tasks.requestCancel(taskId(2), ACCOUNT, NOW)).toBe("not_found");
        expect(await snapshot(store)).toEqual(before);
      }),
    );

    test(
      "a leased queued task stays its holder's, and is due at once when given back, room or no room",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 1)).toBe("requested");
        expect((await store.tasks.claim(claimQuery({ now: NOW + 1 }))).leases).toEqual([]);
        const later = snoozed(lease.task, NOW + 2, { dueAt: NOW + 5_000, failures: 1 });
        expect(await store.tasks.apply(lease, later)).toBe("applied");
        const again = await claimOne(store, { now: NOW + 2, lanes: [], capacity: 0 });
        expect(again.task).toMatchObject({ stage: "queued", cancelRequested: true });
      }),
    );

    test(
      "a queued task whose lease has run out is cancelled, and its old holder fenced",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 30_000)).toBe("cancelled");
        expect(await store.tasks.begin(lease, newIntent())).toBe("lease_lost");
      }),
    );

    test(
      "a task being submitted is due at once when given back",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 1)).toBe("requested");
        await store.tasks.apply(lease, submitted(NOW + 2, attemptId(1), "job-1", NOW + 5_000));
        const again = await claimOne(store, { now: NOW + 2 });
        expect(again.task).toMatchObject({ stage: "running", cancelRequested: true });
      }),
    );

    test(
      "cancelling, however often, moves no question to an upstream forward after a failure, and none twice",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        const ask = unanswered(NOW, "submitting", { dueAt: NOW + 500, failures: 1 }, { id: attemptId(1) });
        await store.tasks.apply(lease, ask);
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 1)).toBe("requested");
        expect((await store.tasks.claim(claimQuery({ now: NOW + 499 }))).leases).toEqual([]);
        const asking = await claimOne(store, { now: NOW + 500 });
        expect(asking.task.cancelRequested).toBe(true);
        await store.tasks.apply(asking, submitted(NOW + 500, attemptId(1), "job-1", NOW + 600));
        await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 501);
        expect((await store.tasks.claim(claimQuery({ now: NOW + 599 }))).leases).toEqual([]);
        const polling = await claimOne(store, { now: NOW + 600 });
        const later = snoozed(polling.task, NOW + 600, { dueAt: NOW + 900, failures: 1 });
        await store.tasks.apply(polling, later);
        await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 601);
        expect((await store.tasks.claim(claimQuery({ now: NOW + 899 }))).leases).toEqual([]);
      }),
    );

    test(
      "a queued task whose last answer was lost is due at once, room or no room, and does not end unheard",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        const again = unanswered(NOW, "queued", { dueAt: NOW + 500, failures: 1 }, { id: attemptId(1) });
        await store.tasks.apply(lease, again);
        expect((await store.tasks.claim(claimQuery({ now: NOW + 499 }))).leases).toEqual([]);
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 1)).toBe("requested");
        const { task, attempt } = await claimOne(store, { now: NOW + 1, lanes: [], capacity: 0 });
        expect([task.stage, attempt?.state]).toEqual(["queued", "ambiguous"]);
      }),
    );

    test(
      "a task put back into the queue after a cancel was asked for needs no room to be claimed",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 1);
        const back = { dueAt: NOW + 5_000, failures: 1, lane: LANE, routeIndex: 0 };
        await store.tasks.apply(lease, requeued(NOW + 2, back, { attempt: attemptId(1), detail: "429" }));
        const again = await claimOne(store, { now: NOW + 2, lanes: [], capacity: 0 });
        expect(again.task).toMatchObject({ stage: "queued", cancelRequested: true });
      }),
    );

    test(
      "a running task nobody has leased is due at once",
      withStore(make, async (store) => {
        await admit(store);
        await submitOne(store);
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 10)).toBe("requested");
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 11)).toBe("requested");
        const lease = await claimOne(store, { now: NOW + 10 });
        expect(lease.task).toMatchObject({ stage: "running", cancelRequested: true });
      }),
    );

    test(
      "a finalizing task keeps its holder",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        await store.tasks.apply(lease, outputsReady(NOW, attemptId(1), []));
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 1)).toBe("requested");
        expect(await store.tasks.renew(lease, NOW + 60_000)).toBe("renewed");
        expect(await store.tasks.byId(taskId(1))).toMatchObject({
          stage: "finalizing",
          cancelRequested: true,
        });
      }),
    );

    test(
      "a rescued task to be cancelled is claimed without room",
      withStore(make, async (store) => {
        await admit(store);
        await claimOne(store);
        await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 1);
        expect(await store.tasks.rescue(NOW + 2)).toBe(1);
        await claimOne(store, { now: NOW + 2, lanes: [], capacity: 0 });
      }),
    );

    test(
      "a cancel and an end at the same time settle once",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        const [ended, cancel] = await Promise.all([
          store.tasks.apply(lease, failed(lease.task, NOW, taskError("INPUT_INVALID"), callbackId(1))),
          store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 30_000),
        ]);
        expect([ended, cancel]).toEqual(["applied", "already_final"]);
        expect((await store.accounts.ledger(ACCOUNT)).map(({ kind }) => kind)).toEqual(["hold", "release"]);
      }),
    );
  });
}

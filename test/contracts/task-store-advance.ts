import { describe, expect, test } from "bun:test";
import { taskError } from "../../src/domain/errors.ts";
import {
  failed,
  inputsReady,
  outputsReady,
  passedOn,
  requeued,
  snoozed,
  submitted,
  succeeded,
} from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  admit,
  assetId,
  attemptId,
  beginOne,
  callbackId,
  claimOne,
  keyId,
  LANE,
  lane,
  type MakeStore,
  micros,
  NOW,
  newAsset,
  newIntent,
  newTask,
  snapshot,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

export function describeAdvance(make: MakeStore): void {
  describe("begin", () => {
    test(
      "the attempt is written as an intent and the task is processing",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        const ofAccount = { lane: lane(`${LANE}/second`), terms: { base: "https://eu.example.com" } };
        expect(await store.tasks.begin(lease, newIntent({ at: NOW + 5, ...ofAccount }))).toBe("begun");
        expect(await store.tasks.byId(taskId(1))).toEqual({
          ...lease.task,
          stage: "submitting",
          status: "processing",
          attempts: 1,
          startedAt: NOW + 5,
          deadlineAt: NOW + 600_000,
        });
        expect(await store.tasks.attempts(taskId(1))).toEqual([
          {
            id: attemptId(1),
            taskId: taskId(1),
            sequence: 1,
            provider: LANE,
            ...ofAccount,
            upstreamModel: "upstream-model",
            state: "intent",
            startedAt: NOW + 5,
          },
        ]);
      }),
    );

    test(
      "what an upstream says is stored, also with half of a character or a NUL in it",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        const said = { error: 'cut \\ud83d "\ud83d', nul: "\0" };
        const attempt = { id: attemptId(1), state: "rejected", detail: "cut \ud83d", trace: [said] } as never;
        const ended = failed(lease.task, NOW + 1, taskError("UPSTREAM_ERROR"), callbackId(1), attempt);
        expect(await store.tasks.apply(lease, ended)).toBe("applied");
        expect(await store.tasks.attempts(taskId(1))).toMatchObject([{ detail: "cut \ufffd" }]);
      }),
    );

    test(
      "a second attempt keeps the first one's start and deadline",
      withStore(make, async (store) => {
        await admit(store);
        const first = await beginOne(store);
        const again = { dueAt: NOW + 10, failures: 1, lane: lane("other"), routeIndex: 1 };
        const rejected = { attempt: attemptId(1), detail: "no capacity" };
        await store.tasks.apply(first, requeued(NOW + 1, again, rejected));
        const second = await claimOne(store, {
          now: NOW + 10,
          lanes: [{ lane: lane("other"), capacity: 1 }],
        });
        expect(second.task).toMatchObject({
          stage: "queued",
          status: "processing",
          lane: "other",
          routeIndex: 1,
        });
        expect(second.attempt).toMatchObject({ state: "rejected", detail: "no capacity", endedAt: NOW + 1 });
        const intent = newIntent({ id: attemptId(2), at: NOW + 10, deadlineAt: NOW + 999_999 });
        expect(await store.tasks.begin(second, intent)).toBe("begun");
        expect(await store.tasks.byId(taskId(1))).toMatchObject({
          attempts: 2,
          startedAt: NOW,
          deadlineAt: NOW + 600_000,
        });
        expect((await store.tasks.attempts(taskId(1))).map(({ sequence }) => sequence)).toEqual([1, 2]);
      }),
    );
  });

  describe("a lost lease", () => {
    test(
      "begins, renews and settles nothing",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: "https://example.com/hook" });
        const stale = await claimOne(store);
        await claimOne(store, { now: NOW + 30_000 });
        const before = await snapshot(store);
        const ending = failed(stale.task, NOW, taskError("UPSTREAM_ERROR"), callbackId(1));
        expect(await store.tasks.begin(stale, newIntent())).toBe("lease_lost");
        expect(await store.tasks.renew(stale, NOW + 1)).toBe("lease_lost");
        expect(await store.tasks.apply(stale, ending)).toBe("lease_lost");
        expect(await snapshot(store)).toEqual(before);
      }),
    );

    test(
      "is what giving it back leaves behind",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await submitOne(store);
        const before = await snapshot(store);
        expect(await store.tasks.renew(lease, NOW + 1)).toBe("lease_lost");
        const snooze = snoozed({ ...lease.task, stage: "running" }, NOW, { dueAt: NOW + 1, failures: 9 });
        expect(await store.tasks.apply(lease, snooze)).toBe("lease_lost");
        expect(await snapshot(store)).toEqual(before);
      }),
    );

    test(
      "is what a transition from another stage gets, though the token is right",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        const before = await snapshot(store);
        expect(await store.tasks.apply(lease, submitted(NOW, attemptId(1), {}, NOW))).toBe("lease_lost");
        expect(await snapshot(store)).toEqual(before);
      }),
    );

    test(
      "is what beginning twice gets",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        const before = await snapshot(store);
        expect(await store.tasks.begin(lease, newIntent({ id: attemptId(2) }))).toBe("lease_lost");
        expect(await snapshot(store)).toEqual(before);
      }),
    );
  });

  describe("apply", () => {
    test(
      "a renewed lease lasts until its new end",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        expect(await store.tasks.renew(lease, NOW + 90_000)).toBe("renewed");
        const claim = { limit: 1, leaseMs: 1, lanes: [], capacity: 0 };
        expect((await store.tasks.claim({ ...claim, now: NOW + 89_999 })).leases).toEqual([]);
        expect((await store.tasks.claim({ ...claim, now: NOW + 90_000 })).leases).toHaveLength(1);
      }),
    );

    test(
      "fetched inputs replace the request, and the task is due at once",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        const request = { ...lease.task.request, prompt: "changed" };
        const asset = newAsset({ role: "input" });
        expect(await store.tasks.apply(lease, inputsReady(NOW, request, [asset]))).toBe("applied");
        expect(await store.tasks.byId(taskId(1))).toEqual({ ...lease.task, request });
        expect(await store.tasks.assetById(asset.id)).toEqual(asset);
        expect((await claimOne(store)).task).toEqual({ ...lease.task, request });
      }),
    );

    test(
      "progress never goes down",
      withStore(make, async (store) => {
        await admit(store);
        const { task } = await submitOne(store);
        const running = { ...task, stage: "running" } as const;
        for (const [progress, expected] of [
          [40, 40],
          [10, 40],
          [undefined, 40],
          [60, 60],
        ] as const) {
          const lease = await claimOne(store, { now: NOW + 50 });
          const again = { dueAt: NOW + 50, failures: 0, progress };
          expect(await store.tasks.apply(lease, snoozed(running, NOW + 50, again))).toBe("applied");
          expect((await store.tasks.byId(taskId(1)))?.progress).toBe(expected);
        }
      }),
    );

    test(
      "a task that its upstream took and failed goes on elsewhere, with all of its hold",
      withStore(make, async (store) => {
        await admit(store, { held: micros(100_000) });
        const first = await beginOne(store);
        await store.tasks.apply(first, submitted(NOW, attemptId(1), "job", NOW + 1));
        const running = await claimOne(store, { now: NOW + 1 });
        const to = { lane: lane("other"), routeIndex: 1 };
        const passed = passedOn(NOW + 2, to, { id: attemptId(1), detail: "out of memory" });
        expect(await store.tasks.apply(running, passed)).toBe("applied");
        const next = { now: NOW + 2, lanes: [{ lane: lane("other"), capacity: 1 }] };
        const second = await claimOne(store, next);
        expect(second.task).toMatchObject({ stage: "queued", status: "processing", failures: 0, ...to });
        const ended = { state: "done", operation: "job", detail: "out of memory", endedAt: NOW + 2 };
        expect(second.attempt).toMatchObject({ ...ended, id: attemptId(1) });
        expect(await store.accounts.account(ACCOUNT)).toMatchObject({ held: 100_000 });
        expect(await store.tasks.begin(second, newIntent({ id: attemptId(2) }))).toBe("begun");
        expect(await store.tasks.attempts(taskId(1))).toMatchObject([
          ended,
          { state: "intent", sequence: 2 },
        ]);
      }),
    );

    test(
      "outputs are kept with the attempt, under the same lease",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        const outputs = [{ kind: "remote", ref: { url: "https://upstream.example/1" } }] as const;
        const report = { usage: { outputTokens: 7 }, costMicros: micros(12_345) };
        const ready = outputsReady(NOW, attemptId(1), outputs, report);
        expect(await store.tasks.apply(lease, ready)).toBe("applied");
        const [attempt] = await store.tasks.attempts(taskId(1));
        expect(attempt).toMatchObject({ state: "accepted", outputs, ...report });
        expect(attempt?.endedAt).toBeUndefined();
        expect(await store.tasks.renew(lease, NOW + 60_000)).toBe("renewed");
        const later = await claimOne(store, { now: NOW + 60_000 });
        expect(later.attempt).toEqual(attempt!);
      }),
    );

    test(
      "a completed task has its results, its charge, its callback and no more hold",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: "https://example.com/hook", held: micros(100_000) });
        const lease = await beginOne(store);
        await store.tasks.apply(lease, outputsReady(NOW, attemptId(1), []));
        const asset = newAsset();
        const end = succeeded(lease.task, NOW + 9, attemptId(1), [asset], { inputTokens: 3 }, callbackId(1));
        expect(await store.tasks.apply(lease, end)).toBe("applied");
        expect(await store.tasks.byId(taskId(1))).toMatchObject({
          status: "completed",
          stage: "terminal",
          progress: 100,
          results: [{ assetId: assetId(1), type: "image/png" }],
          charged: 40_000,
          usage: { inputTokens: 3 },
          completedAt: NOW + 9,
        });
        expect(await store.tasks.attempts(taskId(1))).toMatchObject([{ state: "done", endedAt: NOW + 9 }]);
        expect(await store.tasks.assetById(asset.id)).toEqual(asset);
        expect(await store.accounts.account(ACCOUNT)).toMatchObject({ balance: -40_000, held: 0 });
        expect((await store.accounts.ledger(ACCOUNT)).map(({ kind }) => kind)).toEqual([
          "hold",
          "capture",
          "release",
        ]);
        expect(await store.callbacks.byId(callbackId(1))).toEqual({
          id: callbackId(1),
          taskId: taskId(1),
          requestId: "req_1",
          url: "https://example.com/hook",
          accountId: ACCOUNT,
          keyId: keyId(1),
          host: "example.com",
          event: "completed",
          state: "pending",
          attempts: 0,
          dueAt: NOW + 9,
          isRedeliveryDue: false,
          createdAt: NOW + 9,
        });
        expect(await store.tasks.counts()).toEqual({ queued: 0, underWay: 0 });
      }),
    );

    test(
      "a failed task says why and costs nothing",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        const change = { id: attemptId(1), state: "rejected", detail: "HTTP 400" } as const;
        const error = taskError("UPSTREAM_REJECTED");
        await store.tasks.apply(lease, failed(lease.task, NOW + 9, error, callbackId(1), change));
        expect(await store.tasks.byId(taskId(1))).toMatchObject({
          status: "failed",
          stage: "terminal",
          error,
          charged: 0,
          results: [],
        });
        expect(await store.accounts.account(ACCOUNT)).toMatchObject({ balance: 0, held: 0 });
      }),
    );

    test(
      "a finished task never changes again",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        const error = taskError("UPSTREAM_ERROR");
        await store.tasks.apply(lease, failed(lease.task, NOW, error, callbackId(1)));
        const before = await snapshot(store);
        expect(await store.tasks.apply(lease, failed(lease.task, NOW + 1, error, callbackId(2)))).toBe(
          "lease_lost",
        );
        expect(await store.tasks.renew(lease, NOW + 1)).toBe("lease_lost");
        expect(await store.tasks.rescue(NOW + 1)).toBe(0);
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW + 1)).toBe("already_final");
        expect(await snapshot(store)).toEqual(before);
      }),
    );

    test(
      "a move that the stages do not allow is a defect, and changes nothing",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        const before = await snapshot(store);
        const leap = {
          ...submitted(NOW, attemptId(1), {}, NOW),
          attempt: undefined,
          from: ["queued"] as const,
        };
        await expect(store.tasks.apply(lease, leap)).rejects.toThrow("from queued to running");
        expect(await snapshot(store)).toEqual(before);
        expect(await store.tasks.begin(lease, newIntent())).toBe("begun");
      }),
    );

    test(
      "a transition that cannot be written whole is not written at all",
      withStore(make, async (store) => {
        await admit(store);
        await store.tasks.admit({ task: newTask({ number: 2 }), assets: [newAsset({ taskId: taskId(2) })] });
        const lease = (
          await store.tasks.claim({
            now: NOW,
            leaseMs: 1,
            limit: 1,
            lanes: [{ lane: newTask().lane, capacity: 9 }],
            capacity: 9,
          })
        ).leases[0]!;
        await store.tasks.begin(lease, newIntent());
        await store.tasks.apply(lease, outputsReady(NOW, attemptId(1), []));
        const before = await snapshot(store);
        // The asset's id is taken.
        const end = succeeded(lease.task, NOW, attemptId(1), [newAsset()], undefined, callbackId(1));
        expect(store.tasks.apply(lease, end)).rejects.toThrow();
        expect(await snapshot(store)).toEqual(before);
      }),
    );
  });
}

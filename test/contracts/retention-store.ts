import { describe, expect, test } from "bun:test";
import { outputsKept, outputsReady, succeeded } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  assetId,
  attemptId,
  beginOne,
  bySystem,
  byToken,
  callbackId,
  endOne,
  keyId,
  type MakeStore,
  micros,
  NOW,
  newAsset,
  newKey,
  newTask,
  snapshot,
  taskId,
  withStore,
} from "../helpers/store.ts";

const [A, B] = ["a".repeat(64), "b".repeat(64)] as const;

export function describeRetentionStore(name: string, make: MakeStore): void {
  describe(`${name}: remove`, () => {
    test(
      "no read finds a removed task, its files, its callback or its change",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: "https://example.com/hook" });
        await endOne(store, "completed");
        const latest = await store.tasks.latestChange(ACCOUNT);
        // So that it may be kept in memory.
        const summary = await store.tasks.summary(taskId(1));
        await store.tasks.assetById(assetId(10));
        expect(await store.retention.remove(taskId(1), NOW, ACCOUNT)).toEqual({
          kind: "removed",
          contents: [A],
        });
        const reads = [
          ...[await store.tasks.byId(taskId(1)), await store.tasks.summary(taskId(1))],
          await store.tasks.requestOf(summary!),
          ...[await store.tasks.story(taskId(1)), await store.tasks.assetById(assetId(10))],
          ...[await store.callbacks.byId(callbackId(1)), await store.callbacks.nextDueAt()],
        ];
        expect(reads).toEqual(reads.map(() => undefined));
        expect(await store.tasks.list({ accountId: ACCOUNT, limit: 10 })).toEqual([]);
        expect(await store.tasks.managedTasks({ limit: 10 })).toEqual({ tasks: [], next: undefined });
        expect(await store.tasks.changes({ accountId: ACCOUNT, after: 0, limit: 10 })).toEqual([]);
        expect(await store.tasks.managedChanges({ after: 0, limit: 10 })).toEqual([]);
        expect(await store.tasks.latestChange(ACCOUNT)).toBe(latest);
        expect(await store.tasks.latestManagedChange()).toBe(latest);
        expect(await store.callbacks.hasDue(NOW + 1e9)).toBe(false);
        expect(await store.retention.neededContents([A])).toEqual([]);
      }),
    );

    test(
      "its money, its usage and what it cost stay, and it can be refunded",
      withStore(make, async (store) => {
        await admit(store);
        await endOne(store, "completed", { outputs: 2, cost: micros(7) });
        const query = { from: 0, to: 99_999, by: "model" } as const;
        const books = async () => [
          await store.accounts.ledger(ACCOUNT),
          await store.usage.report(query),
          await store.usage.spentSince(0),
        ];
        const before = await books();
        await store.retention.remove(taskId(1), NOW, ACCOUNT);
        expect(await books()).toEqual(before);
        expect(await store.accounts.refund(taskId(1), undefined, "spoilt", byToken(NOW))).toMatchObject({
          kind: "refunded",
        });
      }),
    );

    test(
      "removing it again succeeds; another account's, an unknown one and a live one stay as they are",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        await admit(store);
        expect(await store.retention.remove(taskId(1), NOW, ACCOUNT)).toEqual({
          kind: "live",
          status: "pending",
        });
        await beginOne(store);
        expect(await store.retention.remove(taskId(1), NOW, ACCOUNT)).toEqual({
          kind: "live",
          status: "processing",
        });
        await admit(store, { number: 2 });
        await endOne(store, "failed");
        const before = await snapshot(store, taskId(2));
        expect(await store.retention.remove(taskId(2), NOW, accountId(2))).toEqual({ kind: "not_found" });
        expect(await store.retention.remove(taskId(3), NOW, ACCOUNT)).toEqual({ kind: "not_found" });
        expect(await snapshot(store, taskId(2))).toEqual(before);
        for (let i = 0; i < 2; i += 1)
          expect(await store.retention.remove(taskId(2), NOW)).toEqual({ kind: "removed", contents: [] });
      }),
    );

    test(
      "a content that another task has, or that is stored for a live one, is still needed",
      withStore(make, async (store) => {
        const c = "c".repeat(64);
        await admit(store, { number: 3 });
        await endOne(store, "completed");
        const input = newAsset({ number: 99, taskId: taskId(2), role: "input" });
        await store.tasks.admit({ task: newTask({ number: 2 }), assets: [input] });
        expect(await store.retention.remove(taskId(3), NOW, ACCOUNT)).toEqual({
          kind: "removed",
          contents: [],
        });
        const lease = await beginOne(store);
        const file = { ...newAsset(), sha256: B };
        await store.tasks.apply(lease, outputsReady(NOW, attemptId(1), [{ kind: "remote", ref: "x" }]));
        const kept = [{ kind: "stored", file } as const, { kind: "remote", ref: "x" } as const];
        const due = { dueAt: NOW + 1, failures: 1 };
        await store.tasks.apply(lease, outputsKept(NOW, attemptId(1), kept, due));
        expect(await store.retention.neededContents([A, B, c])).toEqual([A, B]);
      }),
    );
  });

  describe(`${name}: contents`, () => {
    test(
      "a damaged result is noted at its place, beside what never came, until its file is whole again",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await beginOne(store);
        await store.tasks.apply(lease, outputsReady(NOW, attemptId(1), []));
        const assets = [A, B].map((sha256, index) => newAsset({ number: index, index, sha256 }));
        const missing = { index: 0, code: "UPSTREAM_ERROR", message: "Not made." } as const;
        const report = { issues: [missing] };
        await store.tasks.apply(
          lease,
          succeeded(lease.task, NOW, attemptId(1), assets, undefined, callbackId(1), report),
        );
        const codes = async () =>
          (await store.tasks.summary(taskId(1)))?.resultIssues?.map(({ index, code }) => [index, code]);
        expect(await store.retention.markDamaged(B, true)).toEqual([taskId(1)]);
        expect(await codes()).toEqual([
          [0, "UPSTREAM_ERROR"],
          [2, "FILE_DAMAGED"],
        ]);
        await store.retention.markDamaged(A, true);
        await store.retention.markDamaged(B, true);
        expect(await codes()).toEqual([
          [0, "UPSTREAM_ERROR"],
          [1, "FILE_DAMAGED"],
          [2, "FILE_DAMAGED"],
        ]);
        for (const sha256 of [A, B]) await store.retention.markDamaged(sha256, false);
        expect(await codes()).toEqual([[0, "UPSTREAM_ERROR"]]);
      }),
    );

    test(
      "each is listed once, and assets newest first, page by page",
      withStore(make, async (store) => {
        const inputs = [B, A, B].map((sha256, index) =>
          newAsset({ number: index, index, sha256, role: "input" }),
        );
        await store.tasks.admit({ task: newTask(), assets: inputs });
        expect(await store.retention.contentsAfter("", 1)).toEqual([{ sha256: A, sizeBytes: 1234 }]);
        expect(await store.retention.contentsAfter(A, 5)).toEqual([{ sha256: B, sizeBytes: 1234 }]);
        const first = await store.retention.assets({ limit: 2 });
        expect(first.assets).toEqual([inputs[2]!, inputs[1]!]);
        const second = await store.retention.assets({ limit: 2, after: first.next });
        expect(second).toEqual({ assets: [inputs[0]!], next: undefined });
      }),
    );
  });

  describe(`${name}: expiry`, () => {
    const query = {
      kind: "outputs",
      endedBefore: NOW + 10,
      now: NOW + 1_000_000,
      after: 0,
      limit: 10,
    } as const;

    test(
      "what ended early enough is due, its key's own time comes first, and what is gone is finished",
      withStore(make, async (store) => {
        const hour = newKey({ number: 2, policy: { retainSec: 3600 } });
        for (const key of [newKey(), hour]) await store.accounts.createKey(key, undefined, bySystem());
        await admit(store, { number: 1, createdAt: NOW });
        await endOne(store, "completed", { at: NOW + 1 });
        await admit(store, { number: 2, createdAt: NOW + 1, keyId: keyId(2) });
        await endOne(store, "completed", { at: NOW + 2 });
        await admit(store, { number: 3, createdAt: NOW + 2 });
        const found = await store.retention.expired(query);
        expect(found.due).toEqual([taskId(1)]);
        const later = await store.retention.expired({ ...query, now: NOW + 3_600_003 });
        expect(later.due).toEqual([taskId(1), taskId(2)]);
        const none = await store.retention.expired({ ...query, endedBefore: 0, now: NOW + 3_600_003 });
        expect(none.due).toEqual([taskId(2)]);
        expect(await store.retention.expire(["outputs"], [taskId(1)], NOW + 5)).toEqual([]);
        expect(await store.tasks.summary(taskId(1))).toMatchObject({
          status: "completed",
          filesRemovedAt: NOW + 5,
          results: [{ assetId: assetId(10) }],
        });
        expect(await store.tasks.assetById(assetId(10))).toBeUndefined();
        const after = await store.retention.expired(query);
        expect([after.due, after.finished]).toEqual([[], found.finished + 1]);
        expect(await store.retention.expire(["outputs"], [taskId(2)], NOW + 5)).toEqual([A]);
        const one = await store.retention.expired({ ...query, limit: 1 });
        expect(one.place).toBe(one.finished);
      }),
    );

    test(
      "tasks that were accepted while the clock was ahead do not keep later ones from being due",
      withStore(make, async (store) => {
        await store.accounts.createKey(newKey(), undefined, bySystem());
        await admit(store, { number: 1, createdAt: NOW + 1e9 });
        await endOne(store, "completed", { at: NOW + 1e9 });
        await admit(store, { number: 2, createdAt: NOW });
        await endOne(store, "completed", { at: NOW + 1 });
        await admit(store, { number: 3, createdAt: NOW + 999_999 });
        const found = await store.retention.expired(query);
        expect(found).toEqual({ due: [taskId(2)], finished: 0 });
      }),
    );

    test(
      "an account's own times come before the server's, and after its key's",
      withStore(make, async (store) => {
        const hour = newKey({ number: 2, policy: { retainSec: 3600 } });
        for (const key of [newKey(), hour]) await store.accounts.createKey(key, undefined, bySystem());
        const change = { retainOutputsSec: 60, retainTasksSec: 120, retainInputsSec: 30 };
        expect(await store.accounts.updateAccount(ACCOUNT, change, bySystem())).toMatchObject(change);
        await admit(store, { number: 1, createdAt: NOW });
        await endOne(store, "completed", { at: NOW });
        await admit(store, { number: 2, createdAt: NOW, keyId: keyId(2) });
        await endOne(store, "completed", { at: NOW });
        const due = async (kind: "outputs" | "callbacks" | "tasks", afterSec: number, endedBefore = 0) => {
          const at = { kind, endedBefore, now: NOW + afterSec * 1000 + 1 };
          return (await store.retention.expired({ ...query, ...at })).due;
        };
        expect(await due("outputs", 59, NOW + 1)).toEqual([]);
        expect(await due("outputs", 60)).toEqual([taskId(1)]);
        expect(await due("outputs", 3600)).toEqual([taskId(1), taskId(2)]);
        expect(await due("tasks", 119, NOW + 1)).toEqual([]);
        expect(await due("tasks", 120)).toEqual([taskId(1), taskId(2)]);
        expect(await due("callbacks", 1e6)).toEqual([]);
        await store.accounts.updateAccount(ACCOUNT, { retainTasksSec: null }, bySystem());
        expect(await due("tasks", 1e6)).toEqual([]);
        expect(await due("tasks", 0, NOW + 1)).toEqual([taskId(1), taskId(2)]);
      }),
    );

    test(
      "files that a creator wants for a time of its own go then, and only then",
      withStore(make, async (store) => {
        await admit(store, { request: { ...newTask().request, retainSec: 2 } });
        expect(await store.retention.filesDue(NOW + 1e9, 9)).toEqual([]);
        await endOne(store, "completed", { at: NOW });
        expect((await store.retention.expired(query)).due).toEqual([]);
        expect(await store.retention.filesDue(NOW + 1999, 9)).toEqual([]);
        expect(await store.retention.filesDue(NOW + 2000, 9)).toEqual([taskId(1)]);
        await store.retention.expire(["outputs", "inputs"], [taskId(1)], NOW + 2000);
        expect(await store.retention.filesDue(NOW + 1e9, 9)).toEqual([]);
        await admit(store, { number: 2, request: { ...newTask().request, retainSec: 2 } });
        await endOne(store, "completed", { at: NOW });
        await store.retention.remove(taskId(2), NOW);
        expect(await store.retention.filesDue(NOW + 1e9, 9)).toEqual([]);
      }),
    );

    test(
      "a callback goes once it is over, and its task stays; a task goes then, too, as if it were deleted",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: "https://example.com/hook" });
        await endOne(store, "completed", { at: NOW });
        for (const kind of ["callbacks", "tasks"] as const)
          expect((await store.retention.expired({ ...query, kind })).due).toEqual([]);
        await store.retention.expire(["callbacks"], [taskId(1)], NOW);
        expect(await store.callbacks.byId(callbackId(1))).toBeDefined();
        const limits = { total: 9, perAccount: 9, perHost: 9 };
        const [send] = await store.callbacks.claim({ now: NOW, leaseMs: 1, limits, underWay: [] });
        await store.callbacks.record(send!, { kind: "delivered", status: 200, atMs: NOW } as never, NOW);
        expect((await store.retention.expired({ ...query, kind: "callbacks" })).due).toEqual([taskId(1)]);
        await store.retention.expire(["callbacks"], [taskId(1)], NOW);
        expect(await store.callbacks.byId(callbackId(1))).toBeUndefined();
        expect((await store.retention.expired({ ...query, kind: "callbacks" })).due).toEqual([]);
        expect(await store.tasks.summary(taskId(1))).toMatchObject({ status: "completed" });
        expect((await store.retention.expired({ ...query, kind: "tasks" })).due).toEqual([taskId(1)]);
        expect(await store.retention.expire(["tasks"], [taskId(1)], NOW)).toEqual([A]);
        expect(await store.tasks.summary(taskId(1))).toBeUndefined();
        expect((await store.retention.expired({ ...query, kind: "tasks" })).due).toEqual([]);
      }),
    );
  });

  test(
    `${name}: an account that is anonymised has no name, no key that opens anything, and its money`,
    withStore(make, async (store) => {
      await addAccount(store, { id: accountId(2), name: "other" });
      await store.accounts.createKey(newKey({ policy: { retainSec: 5 } }), "whsec_x", bySystem());
      await store.accounts.createKey(newKey({ number: 2, accountId: accountId(2) }), undefined, bySystem());
      await admit(store);
      await admit(store, { number: 2 });
      await endOne(store, "completed");
      expect(await store.retention.tasksOf(ACCOUNT, 9)).toEqual({ ended: [taskId(1)], live: [taskId(2)] });
      expect(await store.retention.remainsOf(ACCOUNT)).toEqual({ tasks: 2, files: 1, callbacks: 0, keys: 1 });
      await store.tasks.requestCancel(taskId(2), ACCOUNT, NOW);
      for (const id of [taskId(1), taskId(2)]) await store.retention.remove(id, NOW, ACCOUNT);
      const ledger = await store.accounts.ledger(ACCOUNT);
      await store.retention.anonymise(ACCOUNT, byToken(NOW));
      await store.retention.anonymise(ACCOUNT, byToken(NOW));
      expect(await store.retention.remainsOf(ACCOUNT)).toEqual({ tasks: 0, files: 0, callbacks: 0, keys: 0 });
      expect(await store.accounts.account(ACCOUNT)).toMatchObject({ name: ACCOUNT, status: "suspended" });
      expect(await store.accounts.ledger(ACCOUNT)).toEqual(ledger);
      expect((await store.retention.remainsOf(accountId(2))).keys).toBe(1);
    }),
  );
}

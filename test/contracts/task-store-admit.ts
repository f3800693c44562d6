import { describe, expect, test } from "bun:test";
import type { Task } from "../../src/domain/task/task.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  byHand,
  keyId,
  type MakeStore,
  micros,
  NOW,
  newAsset,
  newClaim,
  newTask,
  taskId,
  withStore,
} from "../helpers/store.ts";

const ADMITTED = { kind: "admitted", isLow: false } as const;

export function describeAdmission(make: MakeStore): void {
  describe("admit", () => {
    test(
      "an accepted task is queued, pending and stored whole",
      withStore(make, async (store) => {
        const task = newTask({ callbackUrl: "https://example.com/hook" });
        expect(await store.tasks.admit({ task, assets: [] })).toEqual(ADMITTED);
        const expected: Task = {
          ...task,
          status: "pending",
          stage: "queued",
          progress: 0,
          attempts: 0,
          failures: 0,
          cancelRequested: false,
          results: [],
        };
        expect(await store.tasks.byId(task.id)).toEqual(expected);
        expect(await store.tasks.counts()).toEqual({ queued: 1, underWay: 0 });
      }),
    );

    test(
      "the price is held in the ledger and on the account",
      withStore(make, async (store) => {
        await admit(store);
        expect(await store.accounts.ledger(ACCOUNT)).toEqual([
          {
            accountId: ACCOUNT,
            taskId: taskId(1),
            kind: "hold",
            balanceDelta: micros(0),
            heldDelta: micros(40_000),
            reason: "task accepted",
            actor: keyId(1),
            at: NOW,
          },
        ]);
        expect(await store.accounts.account(ACCOUNT)).toMatchObject({ balance: 0, held: 40_000 });
      }),
    );

    test(
      "a free task leaves no ledger entry",
      withStore(make, async (store) => {
        expect(await admit(store, { held: micros(0) })).toEqual(ADMITTED);
        expect(await store.accounts.ledger(ACCOUNT)).toEqual([]);
      }),
    );

    test(
      "inputs stored during the create can be read afterwards",
      withStore(make, async (store) => {
        const asset = newAsset({ role: "input" });
        await store.tasks.admit({ task: newTask(), assets: [asset] });
        expect(await store.tasks.assetById(asset.id)).toEqual(asset);
      }),
    );

    test(
      "a key that is freed can be used anew, unless another task has it by now",
      withStore(make, async (store) => {
        const idempotency = newClaim();
        await store.tasks.admit({ task: newTask(), assets: [], idempotency });
        await store.tasks.freeIdempotency(idempotency, taskId(9));
        expect(await store.tasks.findReplay(idempotency, NOW)).toMatchObject({ kind: "replayed" });
        await store.tasks.freeIdempotency(idempotency, taskId(1));
        expect(await store.tasks.findReplay(idempotency, NOW)).toBeUndefined();
        const again = await store.tasks.admit({ task: newTask({ number: 2 }), assets: [], idempotency });
        expect(again).toMatchObject({ kind: "admitted" });
        await store.tasks.freeIdempotency(idempotency, taskId(1));
        expect(await store.tasks.findReplay(idempotency, NOW)).toMatchObject({ taskId: taskId(2) });
      }),
    );

    test(
      "a prepaid account that is short gets nothing stored",
      withStore(make, async (store) => {
        const poor = accountId(2);
        await addAccount(store, { id: poor, mode: "prepaid", credit: micros(39_999) });
        const idempotency = newClaim();
        const asset = newAsset({ accountId: poor });
        const result = await store.tasks.admit({
          task: newTask({ accountId: poor }),
          assets: [asset],
          idempotency,
        });
        expect(result).toEqual({
          kind: "insufficient_quota",
          limitedBy: "balance",
          available: micros(39_999),
          needed: micros(40_000),
        });
        expect(await store.tasks.byId(taskId(1))).toBeUndefined();
        expect(await store.tasks.assetById(asset.id)).toBeUndefined();
        expect(await store.tasks.findReplay(idempotency, NOW)).toBeUndefined();
        expect(await store.accounts.ledger(poor)).toHaveLength(1);
        expect(await store.accounts.account(poor)).toMatchObject({ balance: 39_999, held: 0 });
      }),
    );

    test(
      "a prepaid account may spend to its last micro-unit, free tasks included",
      withStore(make, async (store) => {
        const account = accountId(2);
        await addAccount(store, { id: account, mode: "prepaid", credit: micros(40_000) });
        expect(await admit(store, { number: 1, accountId: account })).toEqual(ADMITTED);
        expect(await admit(store, { number: 2, accountId: account, held: micros(1) })).toEqual({
          kind: "insufficient_quota",
          limitedBy: "balance",
          available: micros(0),
          needed: micros(1),
        });
        expect(await admit(store, { number: 3, accountId: account, held: micros(0) })).toEqual(ADMITTED);
      }),
    );

    test(
      "creates at the same time never hold more than the balance",
      withStore(make, async (store) => {
        const account = accountId(2);
        await addAccount(store, { id: account, mode: "prepaid", credit: micros(1_000_000) });
        const results = await Promise.all(
          Array.from({ length: 200 }, (_, i) => admit(store, { number: i, accountId: account })),
        );
        expect(results.filter(({ kind }) => kind === "admitted")).toHaveLength(25);
        expect(await store.accounts.account(account)).toMatchObject({ balance: 1_000_000, held: 1_000_000 });
      }),
    );

    test(
      "a create that fails midway leaves nothing behind and takes no other with it",
      withStore(make, async (store) => {
        await admit(store, { number: 1 });
        const asset = newAsset({ taskId: taskId(2) });
        const duplicate = { ...asset, index: 1 };
        const [before, failing, after] = await Promise.allSettled([
          admit(store, { number: 3 }),
          store.tasks.admit({
            task: newTask({ number: 2 }),
            assets: [asset, duplicate],
            idempotency: newClaim(),
          }),
          admit(store, { number: 4 }),
        ]);
        expect([before.status, failing.status, after.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
        expect(await store.tasks.byId(taskId(2))).toBeUndefined();
        expect(await store.tasks.assetById(asset.id)).toBeUndefined();
        expect(await store.tasks.findReplay(newClaim(), NOW)).toBeUndefined();
        expect(await store.accounts.ledger(ACCOUNT)).toHaveLength(3);
        expect(await store.accounts.account(ACCOUNT)).toMatchObject({ held: 120_000 });
      }),
    );
  });

  describe("a key's live tasks", () => {
    const admitWith = (concurrency: number | undefined, fields: Parameters<typeof newTask>[0]) => ({
      task: newTask(fields),
      assets: [],
      concurrency,
    });

    test(
      "are as many as the key may have, however many are asked for at once",
      withStore(make, async (store) => {
        const results = await Promise.all(
          Array.from({ length: 50 }, (_, number) => store.tasks.admit(admitWith(4, { number }))),
        );
        const refused = results.filter(({ kind }) => kind !== "admitted");
        expect(refused).toEqual(Array.from({ length: 46 }, () => ({ kind: "too_many_tasks" })));
        expect(await store.tasks.counts()).toEqual({ queued: 4, underWay: 0 });
        expect(await store.accounts.account(ACCOUNT)).toMatchObject({ held: 160_000 });
      }),
    );

    test(
      "are counted for that key alone",
      withStore(make, async (store) => {
        expect(await store.tasks.admit(admitWith(1, { number: 1 }))).toEqual(ADMITTED);
        const ofAnother = admitWith(1, { number: 2, keyId: keyId(2) });
        expect(await store.tasks.admit(ofAnother)).toEqual(ADMITTED);
        expect(await store.tasks.admit(admitWith(1, { number: 3 }))).toEqual({ kind: "too_many_tasks" });
        expect(await store.tasks.admit(admitWith(undefined, { number: 4 }))).toEqual(ADMITTED);
      }),
    );

    test(
      "make room for another by ending",
      withStore(make, async (store) => {
        await store.tasks.admit(admitWith(1, { number: 1 }));
        await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
        expect(await store.tasks.admit(admitWith(1, { number: 2 }))).toEqual(ADMITTED);
      }),
    );

    test(
      "do not stand in the way of a replay, and a refused create frees its key",
      withStore(make, async (store) => {
        const [one, two] = [newClaim({ key: "one" }), newClaim({ key: "two" })];
        await store.tasks.admit({ ...admitWith(1, { number: 1 }), idempotency: one });
        const again = { ...admitWith(1, { number: 2 }), idempotency: one };
        expect(await store.tasks.admit(again)).toMatchObject({ kind: "replayed", taskId: taskId(1) });
        const refused = { ...admitWith(1, { number: 3 }), idempotency: two };
        expect(await store.tasks.admit(refused)).toEqual({ kind: "too_many_tasks" });
        expect(await store.tasks.findReplay(two, NOW)).toBeUndefined();
      }),
    );
  });

  describe("idempotency", () => {
    const admitWith = (number: number, claim = newClaim(), createdAt = NOW) => ({
      task: newTask({ number, createdAt }),
      assets: [],
      idempotency: claim,
    });

    test(
      "an equal body under a used key is answered with the first task and costs nothing",
      withStore(make, async (store) => {
        await store.tasks.admit(admitWith(1));
        const replayed = { kind: "replayed", taskId: taskId(1), held: micros(40_000) } as const;
        expect(await store.tasks.admit(admitWith(2))).toEqual(replayed);
        expect(await store.tasks.findReplay(newClaim(), NOW)).toEqual(replayed);
        expect(await store.tasks.byId(taskId(2))).toBeUndefined();
        expect(await store.accounts.account(ACCOUNT)).toMatchObject({ held: 40_000 });
      }),
    );

    test(
      "another body under a used key is a conflict",
      withStore(make, async (store) => {
        await store.tasks.admit(admitWith(1));
        const other = newClaim({ fingerprint: "e".repeat(64) });
        expect(await store.tasks.admit(admitWith(2, other))).toEqual({ kind: "conflict" });
        expect(await store.tasks.findReplay(other, NOW)).toEqual({ kind: "conflict" });
        expect(await store.tasks.byId(taskId(2))).toBeUndefined();
      }),
    );

    test(
      "a thousand equal creates at once are one task",
      withStore(make, async (store) => {
        const results = await Promise.all(
          Array.from({ length: 1000 }, (_, i) => store.tasks.admit(admitWith(i))),
        );
        expect(results.filter(({ kind }) => kind === "admitted")).toHaveLength(1);
        expect(results.filter(({ kind }) => kind === "replayed")).toHaveLength(999);
        expect(await store.tasks.counts()).toEqual({ queued: 1, underWay: 0 });
      }),
    );

    test(
      "keys are separate for each API key and each endpoint",
      withStore(make, async (store) => {
        await store.tasks.admit(admitWith(1));
        const otherEndpoint = newClaim({ endpoint: "POST /v1/videos/generations" });
        const otherKey = newClaim({ key: "order-2" });
        expect(await store.tasks.admit(admitWith(2, otherEndpoint))).toEqual(ADMITTED);
        expect(await store.tasks.admit(admitWith(3, otherKey))).toEqual(ADMITTED);
      }),
    );

    test(
      "a record counts until it ends, then its key is free",
      withStore(make, async (store) => {
        await store.tasks.admit(admitWith(1, newClaim({ expiresAt: NOW + 10 })));
        expect(await store.tasks.findReplay(newClaim(), NOW + 9)).toMatchObject({ kind: "replayed" });
        expect(await store.tasks.findReplay(newClaim(), NOW + 10)).toBeUndefined();
        const renewed = newClaim({ fingerprint: "e".repeat(64), expiresAt: NOW + 20 });
        expect(await store.tasks.admit(admitWith(2, renewed, NOW + 10))).toEqual(ADMITTED);
        expect(await store.tasks.findReplay(renewed, NOW + 11)).toMatchObject({ taskId: taskId(2) });
      }),
    );

    test(
      "a refused create frees its key",
      withStore(make, async (store) => {
        const account = accountId(2);
        await addAccount(store, { id: account, mode: "prepaid" });
        const admission = {
          task: newTask({ accountId: account }),
          assets: [],
          idempotency: newClaim(),
        };
        expect(await store.tasks.admit(admission)).toMatchObject({ kind: "insufficient_quota" });
        await store.accounts.credit(account, micros(40_000), "top-up", byHand(NOW));
        expect(await store.tasks.admit(admission)).toEqual(ADMITTED);
      }),
    );

    test(
      "ended records are removed, at most as many as asked for",
      withStore(make, async (store) => {
        for (const number of [1, 2, 3]) {
          const claim = newClaim({ key: `order-${number}`, expiresAt: NOW + number });
          await store.tasks.admit(admitWith(number, claim));
        }
        expect(await store.tasks.expireIdempotency(NOW + 2, 1)).toBe(1);
        expect(await store.tasks.expireIdempotency(NOW + 2, 10)).toBe(1);
        expect(await store.tasks.expireIdempotency(NOW + 2, 10)).toBe(0);
        expect(await store.tasks.findReplay(newClaim({ key: "order-3" }), NOW + 2)).toMatchObject({
          kind: "replayed",
        });
      }),
    );
  });
}

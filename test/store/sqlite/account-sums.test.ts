import { afterEach, beforeEach, expect, test } from "bun:test";
import { taskError } from "../../../src/domain/errors.ts";
import type { AccountId } from "../../../src/domain/ids.ts";
import type { AdmitResult } from "../../../src/domain/ports/task-store.ts";
import type { Task } from "../../../src/domain/task/task.ts";
import { failed, succeeded, type Transition } from "../../../src/domain/task/transition.ts";
import type { Store } from "../../../src/store/open.ts";
import { openEmptyStore } from "../../helpers/open-store.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  attemptId,
  bySystem,
  callbackId,
  claimOne,
  claimQuery,
  micros,
  NOW,
  newAsset,
  newClaim,
  newIntent,
  newTask,
  taskId,
} from "../../helpers/store.ts";

/** What each task holds. */
const EACH = 40_000;
const OTHER = accountId(2);

let store: Store;
beforeEach(() => {
  store = openEmptyStore();
});
afterEach(() => store.stop());

const prepaid = (id: AccountId, tasks: number) =>
  addAccount(store, { id, mode: "prepaid", credit: micros(tasks * EACH) });
const heldBy = async (id: AccountId) => (await store.accounts.account(id))?.held;
const kindsOf = (results: readonly AdmitResult[]) => results.map(({ kind }) => kind);

test("creates of a turn spend a balance to the last, and no further", async () => {
  await prepaid(ACCOUNT, 3);
  const results = await Promise.all([1, 2, 3, 4, 5].map((number) => admit(store, { number })));
  expect(kindsOf(results)).toEqual([
    ...["admitted", "admitted", "admitted"],
    ...["insufficient_quota", "insufficient_quota"],
  ] as AdmitResult["kind"][]);
  expect(results[3]).toMatchObject({ limitedBy: "balance", available: micros(0) });
  expect(await heldBy(ACCOUNT)).toBe(micros(3 * EACH));
});

test("creates of several accounts in a turn, one after the other in any order", async () => {
  await prepaid(ACCOUNT, 2);
  await addAccount(store, { id: OTHER });
  const of = [ACCOUNT, OTHER, OTHER, ACCOUNT, OTHER, ACCOUNT];
  const results = await Promise.all(of.map((id, i) => admit(store, { number: i + 1, accountId: id })));
  expect(kindsOf(results).filter((kind) => kind === "admitted")).toHaveLength(5);
  expect(results[5]?.kind).toBe("insufficient_quota");
  expect([await heldBy(ACCOUNT), await heldBy(OTHER)]).toEqual([micros(2 * EACH), micros(3 * EACH)]);
});

test("what else a turn does to an account sees what was held before it, and creates see what it did", async () => {
  await prepaid(ACCOUNT, 3);
  await admit(store, { number: 1 });
  const lease = await claimOne(store);
  const [task, error] = [lease.task, taskError("UPSTREAM_ERROR")];
  const [second, third, ended, fourth, credit, fifth, sixth] = await Promise.all([
    admit(store, { number: 2 }),
    admit(store, { number: 3 }),
    store.tasks.apply(lease, failed(task, NOW, error, callbackId(1))),
    admit(store, { number: 4 }),
    store.accounts.credit(ACCOUNT, micros(EACH), "paid", bySystem()),
    admit(store, { number: 5 }),
    admit(store, { number: 6 }),
  ]);
  expect([second.kind, third.kind, ended]).toEqual(["admitted", "admitted", "applied"]);
  // The failed task gave back what it held, and the credit pays for one more.
  expect([fourth.kind, credit.kind, fifth.kind]).toEqual(["admitted", "credited", "admitted"]);
  expect(sixth).toMatchObject({ kind: "insufficient_quota", available: micros(0) });
  expect(await heldBy(ACCOUNT)).toBe(micros(4 * EACH));
});

test("a group that is refused holds nothing, whatever the turn admits beside it", async () => {
  await prepaid(ACCOUNT, 3);
  const admissionOf = (number: number) => ({ task: newTask({ number }), assets: [] });
  const [first, group, last] = await Promise.all([
    admit(store, { number: 1 }),
    store.tasks.admitAll([2, 3, 4].map(admissionOf)),
    admit(store, { number: 5 }),
  ]);
  expect([first.kind, group.kind, last.kind]).toEqual(["admitted", "refused", "admitted"]);
  expect(await heldBy(ACCOUNT)).toBe(micros(2 * EACH));
});

test("a turn that was undone since one of its writes failed spends nothing when it runs again", async () => {
  await prepaid(ACCOUNT, 2);
  const results = await Promise.allSettled([1, 1, 2].map((number) => admit(store, { number })));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(results[2]).toMatchObject({ value: { kind: "admitted" } });
  expect(await heldBy(ACCOUNT)).toBe(micros(2 * EACH));
});

test("a low balance is told by the first create of a turn that makes it so, and by no other", async () => {
  await prepaid(ACCOUNT, 5);
  await store.accounts.updateAccount(ACCOUNT, { lowBalance: micros(3 * EACH) }, bySystem());
  const results = await Promise.all([1, 2, 3, 4].map((number) => admit(store, { number })));
  expect(results.map((result) => result.kind === "admitted" && result.isLow)).toEqual([
    ...[false, false, true, false],
  ]);
  expect(await admit(store, { number: 5 })).toEqual({ kind: "admitted", isLow: false });
});

test("tasks that end in a turn settle as they would one after the other, and a low balance is told again", async () => {
  await prepaid(ACCOUNT, 6);
  await prepaid(OTHER, 1);
  await store.accounts.updateAccount(ACCOUNT, { lowBalance: micros(2 * EACH) }, bySystem());
  await admit(store, { number: 1, held: micros(2 * EACH) });
  for (const number of [2, 3]) await admit(store, { number });
  expect(await admit(store, { number: 4 })).toMatchObject({ isLow: true });
  await admit(store, { number: 5, accountId: OTHER });
  const { leases } = await store.tasks.claim(claimQuery());
  for (const [i, lease] of leases.entries())
    await store.tasks.begin(lease, newIntent({ id: attemptId(i + 1) }));
  const end = (number: number, how: (task: Task) => Transition) => {
    const lease = leases.find(({ task }) => task.id === taskId(number));
    if (lease === undefined) throw new Error(`Task ${number} was not claimed.`);
    return store.tasks.apply(lease, how(lease.task));
  };
  const fail = (number: number) =>
    end(number, (task) => failed(task, NOW, taskError("UPSTREAM_ERROR"), callbackId(number)));
  const results = await Promise.all([
    fail(1),
    fail(5),
    fail(2),
    store.tasks.requestCancel(taskId(4), ACCOUNT, NOW),
    admit(store, { number: 6, held: micros(3 * EACH) }),
    end(3, (task) => {
      const attempt = attemptId(1 + leases.findIndex((lease) => lease.task.id === task.id));
      return succeeded(task, NOW, attempt, [newAsset({ taskId: task.id })], undefined, callbackId(3));
    }),
    admit(store, { number: 7 }),
  ]);
  expect(results).toEqual([
    ...["applied", "applied", "applied", "requested"],
    // Twice the level was left again.
    ...[{ kind: "admitted", isLow: true }, "applied", { kind: "admitted", isLow: false }],
  ] as typeof results);
  const entries = await store.accounts.ledger(ACCOUNT);
  const sum = (of: "balanceDelta" | "heldDelta") =>
    micros(entries.reduce((all, entry) => all + entry[of], 0));
  expect(await store.accounts.account(ACCOUNT)).toMatchObject({
    balance: sum("balanceDelta"),
    held: sum("heldDelta"),
  });
  expect([sum("balanceDelta"), sum("heldDelta")]).toEqual([micros(5 * EACH), micros(5 * EACH)]);
  expect(await store.accounts.account(OTHER)).toMatchObject({ balance: micros(EACH), held: micros(0) });
});

test("a key of a refused group is free, and one beside it is used", async () => {
  await prepaid(ACCOUNT, 2);
  const admissionOf = (number: number, key: string) => ({
    task: newTask({ number }),
    assets: [],
    idempotency: newClaim({ key }),
  });
  const [group, beside] = await Promise.all([
    store.tasks.admitAll([1, 2, 3].map((number) => admissionOf(number, `group-${number}`))),
    store.tasks.admit(admissionOf(4, "beside")),
  ]);
  expect([group.kind, beside.kind]).toEqual(["refused", "admitted"]);
  expect(await store.tasks.findReplay(newClaim({ key: "group-1" }), NOW)).toBeUndefined();
  expect(await store.tasks.findReplay(newClaim({ key: "beside" }), NOW)).toMatchObject({ kind: "replayed" });
  expect((await store.tasks.admit(admissionOf(5, "group-1"))).kind).toBe("admitted");
  expect(await store.tasks.findReplay(newClaim({ key: "group-1" }), NOW)).toMatchObject({ kind: "replayed" });
});

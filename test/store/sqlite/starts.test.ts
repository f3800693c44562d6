import { expect, test } from "bun:test";
import type { LeaseToken } from "../../../src/domain/ids.ts";
import type { Start } from "../../../src/domain/ports/claims.ts";
import { type NewTask, queuedTask } from "../../../src/domain/task/task.ts";
import { snoozed, submitted } from "../../../src/domain/task/transition.ts";
import { openEmptyStore } from "../../helpers/open-store.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  attemptId,
  beginOne,
  claimOne,
  claimQuery,
  countingTokens,
  LANE,
  lane,
  micros,
  NOW,
  newIntent,
  newTask,
  type StoreUnderTest,
  snapshot,
  taskId,
  withStore,
} from "../../helpers/store.ts";

const LEASE = "lease-1" as LeaseToken;

function newStart(given: Partial<Start> = {}): Start {
  const { lanes, capacity } = claimQuery();
  return { token: LEASE, until: NOW + 30_000, intent: newIntent(), lanes, capacity, ...given };
}

/** Admits a task as one that may begin. */
function start(store: StoreUnderTest, task: Parameters<typeof newTask>[0] = {}, given: Partial<Start> = {}) {
  const { number = 1 } = task;
  const intent = newIntent({ id: attemptId(number), lane: task.lane ?? LANE });
  return store.tasks.admit({ task: newTask(task), assets: [], start: newStart({ intent, ...given }) });
}

const make = () => openEmptyStore(countingTokens());
const BEGUN = { kind: "admitted", isLow: false, isBegun: true } as const;
const WAITS = { kind: "admitted", isLow: false } as const;

/** All that is stored of a task with callbacks, however it was begun. */
async function stored(store: StoreUnderTest) {
  const { tasks, callbacks } = store;
  const told = await callbacks.list({ accountId: ACCOUNT, limit: 9 });
  const { leases } = await tasks.claim(claimQuery({ now: NOW + 30_000 }));
  return { ...(await snapshot(store)), story: await tasks.story(taskId(1)), told, leases };
}

test("a task that is begun as it is stored is stored as one that is claimed and begun", async () => {
  const task: Partial<NewTask> = {
    callbackUrl: "https://example.com/hook",
    callbackTerms: { form: "plain", events: ["started", "completed"], attempts: 3 },
    setup: "checkpoint",
  };
  const [one, other] = [make(), make()];
  for (const store of [one, other]) await addAccount(store, { id: ACCOUNT });
  expect(await start(one, task)).toEqual(BEGUN);
  await admit(other, task);
  await beginOne(other);
  const [begun, claimed] = [await stored(one), await stored(other)];
  // Each store counts its tokens.
  const untold = ({ leases, ...rest }: typeof begun) => ({
    ...rest,
    leases: leases.map(({ token: _, ...lease }) => lease),
  });
  expect(untold(begun)).toEqual(untold(claimed));
  expect(begun.leases).toHaveLength(1);
  expect(begun.told.length).toBe(1);
  await Promise.all([one.stop(), other.stop()]);
});

test(
  "the lease of a task that was begun as it was stored holds from then on",
  withStore(make, async (store) => {
    await start(store);
    const lease = { token: LEASE, task: queuedTask(newTask()), attempt: undefined };
    const next = submitted(NOW, attemptId(1), { job: "u1" }, NOW + 50);
    expect(await store.tasks.claim(claimQuery({ now: NOW + 29_999 }))).toMatchObject({ leases: [] });
    expect(await store.tasks.apply({ ...lease, token: "other" as LeaseToken }, next)).toBe("lease_lost");
    expect(await store.tasks.renew(lease, NOW + 40_000)).toBe("renewed");
    expect(await store.tasks.claim(claimQuery({ now: NOW + 39_999 }))).toMatchObject({ leases: [] });
    expect(await store.tasks.apply(lease, next)).toBe("applied");
  }),
);

test(
  "after a restart, a task that was begun as it was stored is one that may have been sent",
  withStore(make, async (store) => {
    await start(store);
    expect(await store.tasks.rescue(NOW)).toBe(1);
    const { task, attempt } = await claimOne(store, { now: NOW + 60_000 });
    expect({ stage: task.stage, attempts: task.attempts, state: attempt?.state }).toEqual({
      stage: "submitting",
      attempts: 1,
      state: "intent",
    });
  }),
);

test(
  "a new task waits behind one that waits for its lane, also one whose delay is over, and passes one that is not due",
  withStore(make, async (store) => {
    await admit(store, { number: 1 });
    expect(await start(store, { number: 2 })).toEqual(WAITS);
    const { leases } = await store.tasks.claim(claimQuery());
    expect(leases.map(({ task }) => task.id)).toEqual([taskId(1), taskId(2)]);
    for (const each of leases)
      await store.tasks.apply(each, snoozed(each.task, NOW, { dueAt: NOW + 70, failures: 1 }));
    const late = newIntent({ id: attemptId(3), at: NOW + 70 });
    expect(await start(store, { number: 3 }, { intent: late })).toEqual(WAITS);
    await store.tasks.requestCancel(taskId(3), ACCOUNT, NOW);
    expect(await start(store, { number: 4 })).toEqual(BEGUN);
  }),
);

test(
  "a new task that finds no room in its lane, or in all together, waits and has no attempt",
  withStore(make, async (store) => {
    const lanes = [LANE, lane("second")].map((each) => ({ lane: each, capacity: 1 }));
    expect(await start(store, { number: 1 }, { lanes })).toEqual(BEGUN);
    expect(await start(store, { number: 2 }, { lanes })).toEqual(WAITS);
    expect(await start(store, { number: 3, lane: lane("second") }, { lanes, capacity: 1 })).toEqual(WAITS);
    expect(await start(store, { number: 4, lane: lane("third") }, { lanes })).toEqual(WAITS);
    expect(await store.tasks.attempts(taskId(2))).toEqual([]);
    expect(await store.tasks.byId(taskId(2))).toMatchObject({ stage: "queued", status: "pending" });
    expect(await start(store, { number: 5, lane: lane("second") }, { lanes })).toEqual(WAITS);
  }),
);

test(
  "a create that is refused begins nothing",
  withStore(make, async (store) => {
    await addAccount(store, { id: accountId(2), mode: "prepaid", credit: micros(1) });
    expect(await start(store, { accountId: accountId(2) })).toMatchObject({ kind: "insufficient_quota" });
    expect(await store.tasks.byId(taskId(1))).toBeUndefined();
    expect(await store.tasks.attempt(attemptId(1))).toBeUndefined();
    expect(await store.tasks.counts()).toEqual({ queued: 0, underWay: 0 });
  }),
);

test(
  "an account whose task began as it was stored has had its turn",
  withStore(make, async (store) => {
    await addAccount(store, { id: accountId(2) });
    const lanes = [{ lane: LANE, capacity: 2 }];
    expect(await start(store, { number: 1 }, { lanes })).toEqual(BEGUN);
    await admit(store, { number: 2 });
    await admit(store, { number: 3, accountId: accountId(2) });
    const { leases } = await store.tasks.claim(claimQuery({ lanes }));
    expect(leases.map(({ task }) => task.id)).toEqual([taskId(3)]);
  }),
);

const areBegun = (results: readonly object[]) => results.map((result) => "isBegun" in result);

test(
  "of tasks of one turn, as many begin as leave as much room; the rest take turns by account",
  withStore(make, async (store) => {
    await addAccount(store, { id: accountId(2) });
    const lanes = [{ lane: LANE, capacity: 5 }];
    const mine = [1, 2, 3, 4, 5].map((number) => start(store, { number }, { lanes }));
    const other = start(store, { number: 6, accountId: accountId(2) }, { lanes });
    expect(areBegun(await Promise.all([...mine, other]))).toEqual([true, true, true, false, false, false]);
    expect(await store.tasks.counts()).toEqual({ queued: 3, underWay: 3 });
    const { leases } = await store.tasks.claim(claimQuery({ lanes }));
    expect(leases.map(({ task }) => task.id)).toEqual([taskId(6), taskId(4)]);
    // The next turn finds what is left.
    expect(areBegun([await start(store, { number: 7 }, { lanes })])).toEqual([false]);
  }),
);

test(
  "a task of a turn waits behind one of the same turn that waits for its lane, and not behind those of other lanes",
  withStore(make, async (store) => {
    const [one, two] = [LANE, lane("second")];
    const lanes = [one, two].map((each) => ({ lane: each, capacity: 9 }));
    const results = await Promise.all([
      start(store, { number: 1 }, { lanes }),
      admit(store, { number: 2 }),
      start(store, { number: 3 }, { lanes }),
      start(store, { number: 4, lane: two }, { lanes }),
    ]);
    expect(areBegun(results)).toEqual([true, false, false, true]);
  }),
);

test(
  "tasks of a turn that was undone since one of them failed begin when it runs again, and take no room twice",
  withStore(make, async (store) => {
    const lanes = [{ lane: LANE, capacity: 2 }];
    const [first, again, other] = await Promise.allSettled([
      start(store, { number: 1 }, { lanes }),
      start(store, { number: 1 }, { lanes }),
      start(store, { number: 2 }, { lanes }),
    ]);
    expect(first).toEqual({ status: "fulfilled", value: BEGUN });
    expect(again.status).toBe("rejected");
    expect(other).toEqual({ status: "fulfilled", value: BEGUN });
    expect(await store.tasks.counts()).toEqual({ queued: 0, underWay: 2 });
  }),
);

test(
  "what else a turn writes between creates counts for those after it",
  withStore(make, async (store) => {
    const lanes = [{ lane: LANE, capacity: 9 }];
    await admit(store, { number: 1 });
    const lease = await claimOne(store, { lanes });
    const results = await Promise.all([
      start(store, { number: 2 }, { lanes }),
      store.tasks.apply(lease, snoozed(lease.task, NOW, { dueAt: NOW, failures: 1 })),
      start(store, { number: 3 }, { lanes }),
    ]);
    expect(results).toEqual([BEGUN, "applied", WAITS]);
  }),
);

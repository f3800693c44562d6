import { describe, expect, test } from "bun:test";
import { RESUME_DELAY_MS } from "../../src/domain/task/backoff.ts";
import type { Lease } from "../../src/domain/task/task.ts";
import { requeued, snoozed, unanswered } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  attemptId,
  beginOne,
  claimOne,
  claimQuery,
  LANE,
  lane,
  type MakeStore,
  NOW,
  newIntent,
  type newTask,
  type StoreUnderTest,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

const ids = (leases: readonly Lease[]) => leases.map((lease) => lease.task.id);

async function admitMany(store: StoreUnderTest, count: number, given: Parameters<typeof newTask>[0] = {}) {
  const first = given.number ?? 1;
  await Promise.all(Array.from({ length: count }, (_, i) => admit(store, { ...given, number: first + i })));
}

export function describeClaim(make: MakeStore): void {
  describe("claim", () => {
    test(
      "a claimed task comes whole, without an attempt at first, and is not claimed twice",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        expect(lease.task).toEqual((await store.tasks.byId(taskId(1)))!);
        expect(lease.attempt).toBeUndefined();
        expect(await store.tasks.claim(claimQuery())).toEqual({
          leases: [],
          nextDueAt: NOW + 30_000,
          room: "all",
          isQueueEmpty: true,
        });
      }),
    );

    test(
      "an empty store has nothing to wait for",
      withStore(make, async (store) => {
        expect(await store.tasks.claim(claimQuery())).toEqual({
          leases: [],
          nextDueAt: undefined,
          room: "all",
          isQueueEmpty: true,
        });
      }),
    );

    test(
      "a snoozed task is invisible until it is due",
      withStore(make, async (store) => {
        await admit(store);
        await submitOne(store);
        expect(await store.tasks.claim(claimQuery({ now: NOW + 49 }))).toEqual({
          leases: [],
          nextDueAt: NOW + 50,
          room: "all",
          isQueueEmpty: true,
        });
        const lease = await claimOne(store, { now: NOW + 50 });
        expect(lease.task.stage).toBe("running");
        expect(lease.attempt).toMatchObject({
          id: attemptId(1),
          state: "accepted",
          operation: { job: "u1" },
        });
      }),
    );

    test(
      "a queued task in backoff is invisible until it is due",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        await store.tasks.apply(lease, snoozed(lease.task, NOW, { dueAt: NOW + 70, failures: 1 }));
        expect(await store.tasks.claim(claimQuery({ now: NOW + 69 }))).toEqual({
          leases: [],
          nextDueAt: NOW + 70,
          room: "all",
        });
        const again = await claimOne(store, { now: NOW + 70 });
        expect(again.task).toMatchObject({ stage: "queued", status: "pending", failures: 1 });
      }),
    );

    test(
      "an account whose tasks are all in backoff does not hold up another",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        await admitMany(store, 20);
        const { leases } = await store.tasks.claim(claimQuery({ limit: 20 }));
        await Promise.all(
          leases.map((lease) =>
            store.tasks.apply(lease, snoozed(lease.task, NOW, { dueAt: NOW + 70, failures: 1 })),
          ),
        );
        await admit(store, { number: 50, accountId: accountId(2) });
        const claimed = await store.tasks.claim(claimQuery());
        expect(ids(claimed.leases)).toEqual([taskId(50)]);
        expect(claimed.nextDueAt).toBe(NOW + 70);
      }),
    );

    test(
      "an expired lease is claimed again with another token, whatever the stage",
      withStore(make, async (store) => {
        await admit(store);
        const first = await claimOne(store);
        const second = await claimOne(store, { now: NOW + 30_000 });
        expect(second.token).not.toBe(first.token);
        expect(await store.tasks.begin(second, newIntent())).toBe("begun");
        expect(await store.tasks.claim(claimQuery({ now: NOW + 59_999 }))).toMatchObject({ leases: [] });
        const third = await claimOne(store, { now: NOW + 60_000 });
        expect(third.task.stage).toBe("submitting");
        expect(third.attempt).toMatchObject({ state: "intent" });
      }),
    );

    test(
      "one account with 2,000 tasks does not keep another's out of the next claim",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        await addAccount(store, { id: accountId(3) });
        await admitMany(store, 2_000, { accountId: accountId(2) });
        await admit(store, { number: 2_001, accountId: accountId(3) });
        const { leases } = await store.tasks.claim(claimQuery({ limit: 2 }));
        expect(ids(leases).toSorted()).toEqual([taskId(1), taskId(2_001)]);
      }),
    );

    test(
      "turns go on where the claim before stopped",
      withStore(make, async (store) => {
        for (const number of [2, 3, 4]) {
          await addAccount(store, { id: accountId(number) });
          await admitMany(store, 3, { number: number * 10, accountId: accountId(number) });
        }
        const served: string[] = [];
        for (let claim = 0; claim < 6; claim++)
          served.push((await claimOne(store, { limit: 1 })).task.accountId);
        for (const number of [2, 3, 4]) {
          expect(served.filter((account) => account === accountId(number))).toHaveLength(2);
        }
        expect(new Set(served.slice(0, 3)).size).toBe(3);
      }),
    );

    test(
      "within an account the oldest task is first",
      withStore(make, async (store) => {
        for (const number of [3, 1, 2]) await admit(store, { number });
        const { leases } = await store.tasks.claim(claimQuery());
        expect(ids(leases)).toEqual([taskId(1), taskId(2), taskId(3)]);
      }),
    );

    test(
      "a lane starts no more than its capacity, leased and running ones counted",
      withStore(make, async (store) => {
        await admitMany(store, 5);
        const lanes = [{ lane: LANE, capacity: 2 }];
        const { leases } = await store.tasks.claim(claimQuery({ lanes }));
        expect(leases).toHaveLength(2);
        expect(await store.tasks.claim(claimQuery({ lanes }))).toEqual({
          leases: [],
          nextDueAt: NOW + 30_000,
          room: "none",
        });
        await store.tasks.begin(leases[0]!, newIntent());
        expect((await store.tasks.claim(claimQuery({ lanes }))).leases).toEqual([]);
        expect(
          (await store.tasks.claim(claimQuery({ lanes: [{ lane: LANE, capacity: 3 }] }))).leases,
        ).toHaveLength(1);
      }),
    );

    test(
      "a full lane does not hold up another, and a lane not named starts nothing",
      withStore(make, async (store) => {
        await admitMany(store, 3, { lane: lane("full") });
        await admitMany(store, 3, { number: 10, lane: lane("open") });
        await admitMany(store, 3, { number: 20, lane: lane("off") });
        const lanes = [
          { lane: lane("full"), capacity: 1 },
          { lane: lane("open"), capacity: 2 },
        ];
        const { leases } = await store.tasks.claim(claimQuery({ lanes }));
        expect(ids(leases).toSorted()).toEqual([taskId(1), taskId(10), taskId(11)]);
      }),
    );

    test(
      "a lane starts no more than it may now, though it has room",
      withStore(make, async (store) => {
        await admitMany(store, 3);
        const claim = async (starts: number) =>
          store.tasks.claim(claimQuery({ lanes: [{ lane: LANE, capacity: 9, starts }] }));
        expect((await claim(1)).leases).toHaveLength(1);
        expect(await claim(0)).toEqual({ leases: [], nextDueAt: NOW + 30_000, room: "none" });
        expect((await claim(9)).leases).toHaveLength(2);
      }),
    );

    test(
      "an account takes over tasks of a sibling that has no room, and of no other lane",
      withStore(make, async (store) => {
        await admitMany(store, 3, { lane: lane("a/1") });
        await admitMany(store, 3, { number: 10, lane: lane("b") });
        const lanes = [
          { lane: lane("a/1"), capacity: 1, siblings: [lane("a/2")] },
          { lane: lane("a/2"), capacity: 1, siblings: [lane("a/1")] },
          { lane: lane("b"), capacity: 0 },
        ];
        const claimed = await store.tasks.claim(claimQuery({ lanes }));
        expect(claimed.leases.map(({ task }) => [task.id, String(task.lane)])).toEqual([
          [taskId(1), "a/1"],
          [taskId(2), "a/2"],
        ]);
        expect((await store.tasks.byId(taskId(2)))?.lane).toBe(lane("a/2"));
        expect(claimed.room).toBe("none");
        expect((await store.tasks.claim(claimQuery({ lanes }))).leases).toEqual([]);
      }),
    );

    test(
      "an account leaves a sibling with room its tasks",
      withStore(make, async (store) => {
        await admitMany(store, 2, { lane: lane("a/1") });
        const lanes = [
          { lane: lane("a/2"), capacity: 5, siblings: [lane("a/1")] },
          { lane: lane("a/1"), capacity: 5, siblings: [lane("a/2")] },
        ];
        const { leases, nextDueAt, room } = await store.tasks.claim(claimQuery({ lanes }));
        expect(leases.map(({ task }) => String(task.lane))).toEqual(["a/1", "a/1"]);
        expect([nextDueAt, room]).toEqual([NOW + 30_000, "all"]);
      }),
    );

    test(
      "a task with an open attempt stays with its account, and one that is due later is taken over then",
      withStore(make, async (store) => {
        const lanes = [
          { lane: LANE, capacity: 9, starts: 0, siblings: [lane("second")] },
          { lane: lane("second"), capacity: 9, siblings: [LANE] },
        ];
        const open = claimQuery({ lanes: [{ lane: LANE, capacity: 9 }] });
        await admit(store, { number: 1 });
        const lost = await claimOne(store, { lanes: [{ lane: LANE, capacity: 9 }] });
        await store.tasks.begin(lost, newIntent());
        const at = { dueAt: NOW, failures: 1 };
        await store.tasks.apply(lost, unanswered(NOW, "queued", at, { id: attemptId(1) }));
        await admit(store, { number: 2 });
        const late = (await store.tasks.claim(open)).leases.find(({ task }) => task.id === taskId(2))!;
        await store.tasks.apply(late, snoozed(late.task, NOW, { dueAt: NOW + 40, failures: 1 }));
        await store.tasks.rescue(NOW);
        expect(await store.tasks.claim(claimQuery({ lanes }))).toEqual({
          leases: [],
          nextDueAt: NOW + 40,
          room: "some",
        });
        const taken = await claimOne(store, { lanes, now: NOW + 40 });
        expect([taken.task.id, String(taken.task.lane)]).toEqual([taskId(2), "second"]);
      }),
    );

    test(
      "all lanes together start no more than the total capacity",
      withStore(make, async (store) => {
        await admitMany(store, 3, { lane: lane("a") });
        await admitMany(store, 3, { number: 10, lane: lane("b") });
        const lanes = [
          { lane: lane("a"), capacity: 10 },
          { lane: lane("b"), capacity: 10 },
        ];
        const { leases } = await store.tasks.claim(claimQuery({ lanes, capacity: 4 }));
        expect(leases).toHaveLength(4);
        expect(new Set(leases.map((lease) => lease.task.lane)).size).toBe(2);
        expect((await store.tasks.claim(claimQuery({ lanes, capacity: 4 }))).leases).toEqual([]);
      }),
    );

    test(
      "a task under way is claimed though its lane has no room and is not even named",
      withStore(make, async (store) => {
        await admit(store);
        await submitOne(store);
        const lease = await claimOne(store, { now: NOW + 50, lanes: [], capacity: 0 });
        expect(lease.task.id).toBe(taskId(1));
      }),
    );

    test(
      "tasks under way come before queued ones",
      withStore(make, async (store) => {
        await admit(store, { number: 5 });
        await submitOne(store);
        await admitMany(store, 3);
        const { leases } = await store.tasks.claim(claimQuery({ now: NOW + 50, limit: 2 }));
        expect(ids(leases)).toEqual([taskId(5), taskId(1)]);
      }),
    );

    test(
      "what the limit left behind is due now",
      withStore(make, async (store) => {
        await admitMany(store, 3);
        expect((await store.tasks.claim(claimQuery({ limit: 2 }))).nextDueAt).toBe(NOW);
        expect((await store.tasks.claim(claimQuery({ limit: 2 }))).nextDueAt).toBe(NOW + 30_000);
      }),
    );

    test(
      "a queue whose lane is full sets a time for what waits, and none for what is due",
      withStore(make, async (store) => {
        await admit(store, { number: 1 });
        const lease = await beginOne(store);
        const again = { dueAt: NOW + 10, failures: 1, lane: LANE, routeIndex: 0 };
        await store.tasks.apply(lease, requeued(NOW, again, { attempt: attemptId(1), detail: "429" }));
        const full = claimQuery({ lanes: [{ lane: LANE, capacity: 0 }] });
        expect(await store.tasks.claim(full)).toEqual({ leases: [], nextDueAt: NOW + 10, room: "none" });
        expect(await store.tasks.claim(claimQuery())).toEqual({
          leases: [],
          nextDueAt: NOW + 10,
          room: "all",
        });
        const due = { ...full, now: NOW + 10 };
        expect(await store.tasks.claim(due)).toEqual({ leases: [], nextDueAt: undefined, room: "none" });
      }),
    );

    test(
      "a queued task ends at its deadline though its lane is full",
      withStore(make, async (store) => {
        await admit(store, { number: 1 });
        const lease = await beginOne(store);
        const { deadlineAt } = newIntent();
        const again = { dueAt: deadlineAt, failures: 1, lane: LANE, routeIndex: 0 };
        await store.tasks.apply(lease, requeued(NOW, again, { attempt: attemptId(1), detail: "429" }));
        const lanes = [{ lane: LANE, capacity: 1, starts: 0 }];
        const before = await store.tasks.claim(claimQuery({ now: deadlineAt - 1, lanes }));
        expect(before).toMatchObject({ leases: [], nextDueAt: deadlineAt });
        const at = claimQuery({ now: deadlineAt, lanes });
        const [first, second] = [await store.tasks.claim(at), await store.tasks.claim(at)];
        expect(ids([...first.leases, ...second.leases])).toEqual([taskId(1)]);
      }),
    );

    test(
      "after a rescue every leased task is due again, its upstream after a pause, and its old holder fenced",
      withStore(make, async (store) => {
        await admitMany(store, 2);
        const { leases } = await store.tasks.claim(claimQuery());
        await store.tasks.begin(leases[0]!, newIntent());
        expect(await store.tasks.rescue(NOW + 1)).toBe(2);
        expect(await store.tasks.rescue(NOW + 1)).toBe(0);
        expect(await store.tasks.renew(leases[0]!, NOW + 99)).toBe("lease_lost");
        const stages = async (now: number) =>
          (await store.tasks.claim(claimQuery({ now }))).leases.map(({ task }) => task.stage);
        expect(await stages(NOW + 1)).toEqual(["queued"]);
        expect(await stages(NOW + RESUME_DELAY_MS)).toEqual([]);
        expect(await stages(NOW + 1 + RESUME_DELAY_MS)).toEqual(["submitting"]);
      }),
    );

    test(
      "a claim begins the tasks for which there is an intent, and leaves the others queued",
      withStore(make, async (store) => {
        await admitMany(store, 2);
        const intentFor = ({ task }: Lease) => (task.id === taskId(2) ? newIntent() : undefined);
        const { leases, begun } = await store.tasks.claim(claimQuery({ intentFor }));
        expect(leases.map(({ task }) => task.stage)).toEqual(["queued", "queued"]);
        expect([...begun!]).toEqual([taskId(2)]);
        expect(await store.tasks.byId(taskId(1))).toMatchObject({ stage: "queued", attempts: 0 });
        const began = { stage: "submitting", status: "processing", attempts: 1, startedAt: NOW };
        expect(await store.tasks.byId(taskId(2))).toMatchObject(began);
        expect(await store.tasks.attempts(taskId(2))).toMatchObject([{ id: attemptId(1), state: "intent" }]);
        expect(await store.tasks.renew(leases[1]!, NOW + 99)).toBe("renewed");
      }),
    );

    test(
      "a task whose cancel was asked for is not begun by its claim",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
        await store.tasks.apply(lease, snoozed(lease.task, NOW, { dueAt: NOW, failures: 0 }));
        const { leases, begun } = await store.tasks.claim(claimQuery({ intentFor: () => newIntent() }));
        expect(ids(leases)).toEqual([taskId(1)]);
        expect(begun?.has(taskId(1)) ?? false).toBe(false);
        expect(await store.tasks.attempts(taskId(1))).toEqual([]);
      }),
    );

    test(
      "a claim beside a write that throws begins its task, once",
      withStore(make, async (store) => {
        await admit(store);
        const claim = store.tasks.claim(claimQuery({ intentFor: () => newIntent() }));
        // In a store that writes both together, all of it is undone and runs once more.
        const [claimed, failing] = await Promise.allSettled([claim, admit(store)]);
        expect(claimed).toMatchObject({ status: "fulfilled", value: { begun: new Set([taskId(1)]) } });
        expect(failing.status).toBe("rejected");
        expect(await store.tasks.attempts(taskId(1))).toHaveLength(1);
      }),
    );

    test(
      "claims at the same time never share a task",
      withStore(make, async (store) => {
        await admitMany(store, 100);
        const claims = await Promise.all(
          Array.from({ length: 20 }, () => store.tasks.claim(claimQuery({ limit: 5 }))),
        );
        const taken = claims.flatMap(({ leases }) => ids(leases));
        expect(new Set(taken).size).toBe(100);
        const tokens = claims.flatMap(({ leases }) => leases.map((lease) => lease.token));
        expect(new Set(tokens).size).toBe(100);
      }),
    );
  });
}

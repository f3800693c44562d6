import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ModelId } from "../../src/domain/ids.ts";
import { MAX_QUEUE_POSITION, type TaskFilter } from "../../src/domain/ports/task-store.ts";
import type { GroupPolicy } from "../../src/domain/task/group-terms.ts";
import { requeued } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  assetId,
  attemptId,
  beginOne,
  claimOne,
  keyId,
  LANE,
  lane,
  type MakeStore,
  NOW,
  newTask,
  type StoreUnderTest,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

async function listed(store: StoreUnderTest, filter: Partial<TaskFilter> = {}) {
  const tasks = await store.tasks.list({ accountId: ACCOUNT, limit: 100, ...filter });
  return tasks.map(({ id }) => id);
}

/** Claims one task after another, as a lane with room for one has them. */
async function claimOrder(store: StoreUnderTest, count: number) {
  const order = [];
  for (let i = 0; i < count; i++) order.push((await claimOne(store, { limit: 1 })).task.id);
  return order;
}

/** Whose tasks are queued, in their order, with which setups, and how many claims were made before the question. */
const QUEUES = fc.record({
  queued: fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.constantFrom(undefined, "a", "b")), {
    ...{ minLength: 1, maxLength: 20, size: "max" },
  }),
  claimed: fc.nat(),
});

function describeQueuePosition(make: MakeStore): void {
  test("a queue position is how many claims come first, whoever had the last turn", async () => {
    const claimsInTurn = async ({
      queued,
      claimed,
    }: typeof QUEUES extends fc.Arbitrary<infer T> ? T : never) => {
      await withStore(make, async (store) => {
        // At once, so that they share a commit.
        await Promise.all([2, 3, 4, 5].map((number) => addAccount(store, { id: accountId(number) })));
        await Promise.all(
          queued.map(([account, setup], i) =>
            admit(store, { number: i + 1, accountId: accountId(account), setup }),
          ),
        );
        const first = await claimOrder(store, claimed % queued.length);
        const left = queued.map((_, i) => taskId(i + 1)).filter((id) => !first.includes(id));
        const told = await Promise.all(
          left.map(async (id) => ({ id, position: await store.tasks.queuePosition(id) })),
        );
        const order = await claimOrder(store, left.length);
        expect(told).toEqual(left.map((id) => ({ id, position: order.indexOf(id) })));
      })();
    };
    await fc.assert(fc.asyncProperty(QUEUES, claimsInTurn), { numRuns: 25 });
    // As many databases are made, which a busy disk takes its time for.
  }, 120_000);

  test(
    "other lanes, and tasks put off, are not in front of anybody",
    withStore(make, async (store) => {
      await admit(store, { number: 1, lane: lane("second") });
      await admit(store, { number: 2 });
      const lease = await beginOne(store);
      const again = { dueAt: NOW + 1_000, failures: 1, lane: LANE, routeIndex: 0 };
      await store.tasks.apply(lease, requeued(NOW, again, { attempt: attemptId(1), detail: "busy" }));
      await admit(store, { number: 3 });
      expect(await store.tasks.queuePosition(taskId(1))).toBe(0);
      expect(await store.tasks.queuePosition(taskId(3))).toBe(0);
    }),
  );

  test(
    "a task that somebody works on is next, and one that is not pending has no position",
    withStore(make, async (store) => {
      await admit(store, { number: 1 });
      await admit(store, { number: 2 });
      await claimOne(store, { limit: 1 });
      expect(await store.tasks.queuePosition(taskId(1))).toBe(0);
      await store.tasks.requestCancel(taskId(2), ACCOUNT, NOW);
      expect(await store.tasks.queuePosition(taskId(2))).toBeUndefined();
      expect(await store.tasks.queuePosition(taskId(3))).toBeUndefined();
    }),
  );

  test(
    "positions are told up to the limit, whether the tasks ahead are the account's own or others'",
    withStore(make, async (store) => {
      await addAccount(store, { id: accountId(2) });
      const count = MAX_QUEUE_POSITION + 2;
      const numbers = Array.from({ length: count }, (_, i) => i + 1);
      await Promise.all(numbers.map((number) => admit(store, { number })));
      await Promise.all(
        numbers.map((number) => admit(store, { number: count + number, accountId: accountId(2) })),
      );
      const own = await Promise.all(
        [499, 500, 501].map((number) => store.tasks.queuePosition(taskId(number))),
      );
      expect(own).toEqual([996, 998, 1_000]);
      const others = await Promise.all(
        [500, 501, count].map((number) => store.tasks.queuePosition(taskId(count + number))),
      );
      expect(others).toEqual([999, 1_000, 1_000]);
    }),
  );
}

export function describeReads(make: MakeStore): void {
  describe("queue position", () => describeQueuePosition(make));

  describe("list", () => {
    test(
      "an account's tasks come newest first, page by page",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        for (const number of [2, 1, 4, 3]) await admit(store, { number });
        await admit(store, { number: 9, accountId: accountId(2) });
        expect(await listed(store)).toEqual([taskId(4), taskId(3), taskId(2), taskId(1)]);
        expect(await listed(store, { limit: 2 })).toEqual([taskId(4), taskId(3)]);
        expect(await listed(store, { limit: 2, after: taskId(3) })).toEqual([taskId(2), taskId(1)]);
        expect(await listed(store, { after: taskId(1) })).toEqual([]);
      }),
    );

    test(
      "filters by kind, status and model narrow the list together",
      withStore(make, async (store) => {
        await admit(store, { number: 1 });
        await submitOne(store);
        await admit(store, { number: 2, kind: "video" });
        await admit(store, { number: 3, model: "other" as ModelId });
        expect(await listed(store, { status: "processing" })).toEqual([taskId(1)]);
        expect(await listed(store, { kind: "video" })).toEqual([taskId(2)]);
        expect(await listed(store, { model: "other" as ModelId })).toEqual([taskId(3)]);
        expect(await listed(store, { kind: "image", status: "pending" })).toEqual([taskId(3)]);
      }),
    );
  });

  test(
    "what a task was asked for is read by itself",
    withStore(make, async (store) => {
      await admit(store, { number: 1 });
      const task = await store.tasks.byId(taskId(1));
      expect(await store.tasks.requestOf(task!)).toEqual(task!.request);
    }),
  );

  test(
    "what is not there is undefined or empty",
    withStore(make, async (store) => {
      expect(await store.tasks.byId(taskId(1))).toBeUndefined();
      expect(await store.tasks.assetById(assetId(1))).toBeUndefined();
      expect(await store.tasks.attempts(taskId(1))).toEqual([]);
      expect(await listed(store)).toEqual([]);
    }),
  );

  test(
    "live tasks are counted by whether they are under way",
    withStore(make, async (store) => {
      await admit(store, { number: 1 });
      await claimOne(store);
      await admit(store, { number: 2 });
      expect(await store.tasks.counts()).toEqual({ queued: 1, underWay: 1 });
      await store.tasks.requestCancel(taskId(2), ACCOUNT, 1);
      expect(await store.tasks.counts()).toEqual({ queued: 0, underWay: 1 });
    }),
  );

  test(
    "an account's live tasks are counted by status, whichever key made them",
    withStore(make, async (store) => {
      await addAccount(store, { id: accountId(2) });
      await admit(store, { number: 1 });
      await submitOne(store);
      for (const number of [2, 3, 4]) await admit(store, { number, keyId: keyId(number) });
      await admit(store, { number: 5, accountId: accountId(2) });
      await store.tasks.requestCancel(taskId(2), ACCOUNT, NOW);
      expect(await store.tasks.liveCounts(ACCOUNT)).toEqual({ pending: 2, processing: 1 });
      expect(await store.tasks.liveCounts(accountId(3))).toEqual({ pending: 0, processing: 0 });
    }),
  );

  test(
    "live tasks that are still to be cancelled at a time are found again, with it",
    withStore(make, async (store) => {
      const timed = (number: number, cancelAt?: number) =>
        admit(store, {
          number,
          request: { ...newTask().request, ...(cancelAt !== undefined && { cancelAt }) },
        });
      await timed(1, NOW + 1);
      await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
      await timed(2, NOW + 2);
      await submitOne(store);
      const request = { ...newTask().request, cancelAt: NOW + 5, cancelsUnstarted: true } as const;
      await admit(store, { number: 6, request });
      await beginOne(store, attemptId(6));
      await timed(7, NOW + 7);
      await beginOne(store, attemptId(7));
      expect(await store.tasks.requestCancel(taskId(7), ACCOUNT, NOW)).toBe("requested");
      await timed(3);
      await timed(4, NOW + 4);
      await admit(store, { number: 5, request });
      expect(await store.tasks.timed()).toEqual([
        { id: taskId(2), accountId: ACCOUNT, cancelAt: NOW + 2 },
        { id: taskId(4), accountId: ACCOUNT, cancelAt: NOW + 4 },
        { id: taskId(5), accountId: ACCOUNT, cancelAt: NOW + 5, cancelsUnstarted: true },
      ]);
    }),
  );

  test(
    "groups whose first to complete ends the others are found again while their tasks live",
    withStore(make, async (store) => {
      const grouped = (number: number, policy: GroupPolicy) =>
        admit(store, {
          number,
          request: { ...newTask().request, group: { policy, tasks: [taskId(number), taskId(9)] } },
        });
      await grouped(1, "first");
      await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
      await grouped(2, "first");
      await grouped(3, "all");
      await admit(store, { number: 4 });
      expect(await store.tasks.races()).toEqual([{ accountId: ACCOUNT, tasks: [taskId(2), taskId(9)] }]);
    }),
  );

  test(
    "tasks that are admitted together are all stored or none, and none is held for",
    withStore(make, async (store) => {
      const before = await store.accounts.account(ACCOUNT);
      const of = (...numbers: number[]) =>
        numbers.map((number) => ({ task: newTask({ number }), assets: [] }));
      const [one, two] = of(1, 2);
      const refused = await store.tasks.admitAll([one!, { ...two!, concurrency: 1 }]);
      expect(refused).toEqual({ kind: "refused", place: 1, result: { kind: "too_many_tasks" } });
      expect([await store.tasks.byId(taskId(1)), await store.tasks.byId(taskId(2))]).toEqual([
        undefined,
        undefined,
      ]);
      expect(await store.accounts.account(ACCOUNT)).toEqual(before);
      const { kind } = await store.tasks.admitAll(of(1, 2));
      expect([kind, await store.tasks.liveCounts(ACCOUNT)]).toEqual([
        "accepted",
        { pending: 2, processing: 0 },
      ]);
    }),
  );

  test(
    "live tasks that somebody waited for are found again, oldest first",
    withStore(make, async (store) => {
      await admit(store, { number: 1, syncScope: "ended" });
      await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
      await admit(store, { number: 2, syncScope: "running" });
      await submitOne(store);
      await admit(store, { number: 3, syncScope: "waiting", keyId: keyId(2), createdAt: NOW + 5 });
      await admit(store, { number: 4 });
      expect(await store.tasks.orphans()).toEqual([
        { id: taskId(2), syncScope: "running", accountId: ACCOUNT, keyId: keyId(1), createdAt: NOW },
        { id: taskId(3), syncScope: "waiting", accountId: ACCOUNT, keyId: keyId(2), createdAt: NOW + 5 },
      ]);
    }),
  );
}

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ModelId } from "../../src/domain/ids.ts";
import { RESUME_DELAY_MS } from "../../src/domain/task/backoff.ts";
import { outputsKept, outputsReady, requeued, snoozed } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  attemptId,
  beginOne,
  claimOne,
  claimQuery,
  endOne,
  LANE,
  lane,
  type MakeStore,
  micros,
  NOW,
  newIntent,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

const OTHER = lane("other");
const SECOND = 1_000;

/** What may happen to a task, chosen by number. */
const STEPS = fc.array(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 1 })), { maxLength: 40, size: "max" });

export function describeLanes(make: MakeStore): void {
  describe("lanes", () => {
    test(
      "that tasks wait for are found, whether they are ready or put off",
      withStore(make, async (store) => {
        expect(await store.tasks.queuedLanes()).toEqual([]);
        for (const number of [1, 2]) await admit(store, { number, createdAt: NOW });
        await admit(store, { number: 3, lane: OTHER, createdAt: NOW });
        expect(await store.tasks.queuedLanes()).toEqual([OTHER, LANE].sort());
        const lease = await claimOne(store, { lanes: [{ lane: OTHER, capacity: 1 }] });
        expect(await store.tasks.queuedLanes()).toEqual([LANE]);
        await store.tasks.apply(lease, snoozed(lease.task, NOW, { dueAt: NOW + 60 * SECOND, failures: 1 }));
        expect(await store.tasks.queuedLanes()).toEqual([OTHER, LANE].sort());
      }),
    );

    test(
      "know the oldest task of each account that may start now, whatever it needs",
      withStore(make, async (store) => {
        const [second, third] = [accountId(2), accountId(3)];
        for (const id of [second, third]) await addAccount(store, { id });
        const own = (most = 9) =>
          Promise.all([ACCOUNT, second, third].map((account) => store.tasks.ownReady(LANE, account, most)));
        const none = { count: 0, oldestAt: undefined };
        expect(await own()).toEqual([none, none, none]);
        await admit(store, { number: 1, createdAt: NOW + 3, setup: "b" });
        await admit(store, { number: 2, createdAt: NOW + 4, setup: "a" });
        await admit(store, { number: 3, createdAt: NOW + 5, accountId: second });
        await admit(store, { number: 4, createdAt: NOW + 6, accountId: third, lane: OTHER });
        expect(await own()).toEqual([{ count: 2, oldestAt: NOW + 3 }, { count: 1, oldestAt: NOW + 5 }, none]);
        expect((await own(1))[0]).toEqual({ count: 1, oldestAt: NOW + 3 });
        await claimOne(store, { limit: 1, now: NOW + SECOND });
        expect(await own()).toEqual([{ count: 2, oldestAt: NOW + 3 }, none, none]);
      }),
    );

    test(
      "tell what waits, since when, and what is under way, through every move of a task",
      withStore(make, async (store) => {
        expect(await store.tasks.lanes()).toEqual([]);
        await admit(store, { number: 1, createdAt: NOW + 5 });
        await admit(store, { number: 2, createdAt: NOW + 2 * SECOND });
        await admit(store, { number: 3, lane: OTHER, createdAt: NOW + 9 * SECOND });
        const other = { lane: OTHER, queued: 1, oldestAt: NOW + 9 * SECOND, underWay: 0 };
        expect(await store.tasks.lanes()).toEqual([
          other,
          { lane: LANE, queued: 2, oldestAt: NOW, underWay: 0 },
        ]);

        const lease = await claimOne(store, { limit: 1, now: NOW + 3 * SECOND });
        expect(await store.tasks.lanes()).toEqual([
          other,
          { lane: LANE, queued: 1, oldestAt: NOW + 2 * SECOND, underWay: 1 },
        ]);
        // Put off, it still waits, as long as before.
        const again = { dueAt: NOW + 60 * SECOND, failures: 1 };
        await store.tasks.apply(lease, snoozed(lease.task, NOW + 3 * SECOND, again));
        expect(await store.tasks.lanes()).toEqual([
          other,
          { lane: LANE, queued: 2, oldestAt: NOW, underWay: 0 },
        ]);

        await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
        await store.tasks.requestCancel(taskId(3), ACCOUNT, NOW);
        expect(await store.tasks.lanes()).toEqual([
          { lane: LANE, queued: 1, oldestAt: NOW + 2 * SECOND, underWay: 0 },
        ]);
      }),
    );

    test(
      "are counted for a process that begins, as what waits and what is under way",
      withStore(make, async (store) => {
        expect(await store.tasks.laneCounts()).toEqual([]);
        await admit(store);
        await submitOne(store);
        for (const number of [2, 3]) await admit(store, { number });
        await admit(store, { number: 4, lane: OTHER });
        const lease = await claimOne(store, { lanes: [{ lane: OTHER, capacity: 1 }] });
        await store.tasks.apply(lease, snoozed(lease.task, NOW, { dueAt: NOW + 60 * SECOND, failures: 1 }));
        const counts = await store.tasks.laneCounts();
        expect(counts.sort((a, b) => a.lane.localeCompare(b.lane))).toEqual([
          { lane: OTHER, queued: 1, underWay: 0, awaiting: 0 },
          { lane: LANE, queued: 2, underWay: 1, awaiting: 0 },
        ]);
      }),
    );

    test(
      "start another task in place of one that waits for its results, however its process ends",
      withStore(make, async (store) => {
        const query = { lanes: [{ lane: LANE, capacity: 1 }], capacity: 1 };
        await admit(store);
        const lease = await beginOne(store);
        await admit(store, { number: 2 });
        const outputs = [{ kind: "remote", ref: "file" }] as const;
        await store.tasks.apply(lease, outputsReady(NOW, attemptId(1), outputs));
        // It is fetched for the first time.
        expect((await store.tasks.claim(claimQuery(query))).room).toBe("none");
        const again = { dueAt: NOW + 50, failures: 1 };
        await store.tasks.apply(lease, outputsKept(NOW, attemptId(1), outputs, again));
        expect(await store.tasks.laneCounts()).toEqual([{ lane: LANE, queued: 1, underWay: 1, awaiting: 1 }]);
        const [second] = (await store.tasks.claim(claimQuery(query))).leases;
        expect(second?.task.id).toBe(taskId(2));
        const fetchedAgain = async (now: number) => {
          const { leases } = await store.tasks.claim(claimQuery({ ...query, now }));
          return leases.find(({ task }) => task.id === taskId(1))?.task;
        };
        const waiting = { stage: "finalizing", failures: 1 };
        expect(await fetchedAgain(NOW + 50)).toMatchObject(waiting);
        const counts = { lane: LANE, underWay: 2, awaiting: 1 };
        expect(await store.tasks.laneCounts()).toMatchObject([counts]);
        // Its process ends.
        await store.tasks.begin(second!, newIntent({ id: attemptId(2) }));
        await store.tasks.rescue(NOW + 50);
        expect(await store.tasks.laneCounts()).toMatchObject([counts]);
        expect(await fetchedAgain(NOW + 2 * RESUME_DELAY_MS)).toMatchObject(waiting);
      }),
    );

    test(
      "follow a task that goes on in another lane",
      withStore(make, async (store) => {
        await admit(store);
        await store.tasks.lanes();
        const lease = await claimOne(store);
        const to = { dueAt: NOW, failures: 0, lane: OTHER, routeIndex: 1 };
        await store.tasks.apply(lease, requeued(NOW, to));
        expect(await store.tasks.lanes()).toEqual([{ lane: OTHER, queued: 1, oldestAt: NOW, underWay: 0 }]);
      }),
    );

    test(
      "count what was there before the first question as what came after it",
      withStore(make, async (store) => {
        await admit(store, { number: 1 });
        await submitOne(store);
        for (const number of [2, 3, 4]) await admit(store, { number });
        expect(await store.tasks.lanes()).toEqual([{ lane: LANE, queued: 3, oldestAt: NOW, underWay: 1 }]);
        await admit(store, { number: 5 });
        expect(await store.tasks.lanes()).toEqual([{ lane: LANE, queued: 4, oldestAt: NOW, underWay: 1 }]);
      }),
    );

    test("agree with the counts of all tasks, whatever happens in whatever order", async () => {
      const agreesThroughout = async (steps: [number, number][]) => {
        await withStore(make, async (store) => {
          let admitted = 0;
          const asksAt = steps[0]?.[0] ?? 0;
          for (const [i, [step, pick]] of steps.entries()) {
            if (i >= asksAt) await store.tasks.lanes();
            if (step <= 2) await admit(store, { number: ++admitted, lane: pick === 0 ? LANE : OTHER });
            else if (step === 3) await store.tasks.requestCancel(taskId(pick + 1), ACCOUNT, NOW);
            else if (step === 4) await store.tasks.rescue(NOW);
            else {
              const { leases } = await store.tasks.claim({
                ...{ now: NOW, leaseMs: 1_000, limit: 2, capacity: 2 },
                lanes: [LANE, OTHER].map((name) => ({ lane: name, capacity: 1 })),
              });
              for (const lease of leases.slice(pick)) {
                const later = { dueAt: NOW + 1_000, failures: 0 };
                await store.tasks.apply(lease, snoozed(lease.task, NOW, later));
              }
            }
          }
          const lanes = await store.tasks.lanes();
          expect({
            queued: lanes.reduce((sum, each) => sum + each.queued, 0),
            underWay: lanes.reduce((sum, each) => sum + each.underWay, 0),
          }).toEqual(await store.tasks.counts());
        })();
      };
      await fc.assert(fc.asyncProperty(STEPS, agreesThroughout), { numRuns: 12 });
    });
  });

  describe("recent endings", () => {
    test(
      "are those that completed or failed since then, of every account",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        await admit(store, { number: 1 });
        await endOne(store, "completed", { at: NOW + 10 });
        await admit(store, { number: 2 });
        await endOne(store, "failed", { at: NOW + 20 });
        await admit(store, { number: 3 });
        await endOne(store, "cancelled", { at: NOW + 30 });
        await admit(store, { number: 4, accountId: accountId(2), model: "fox" as ModelId });
        await endOne(store, "completed", { at: NOW + 40 });
        await admit(store, { number: 5 });
        const common = { model: "sandbox-image" as ModelId, provider: LANE, charged: micros(0) };
        const fox = {
          ...{ model: "fox" as ModelId, provider: LANE, status: "completed" as const },
          ...{ durationMs: 40, charged: micros(40_000), endedAt: NOW + 40 },
        };
        const later = await store.tasks.recentEndings(NOW + 20);
        expect(later).toEqual({
          since: NOW + 20,
          tasks: [{ ...common, status: "failed", durationMs: 20, endedAt: NOW + 20 }, fox],
        });
        expect((await store.tasks.recentEndings(NOW))?.tasks).toHaveLength(3);
        expect(await store.tasks.recentEndings(NOW + 41)).toEqual({ since: NOW + 41, tasks: [] });
      }),
    );

    test(
      "of more tasks than are read at once begin with the oldest of those that were read",
      withStore(make, async (store) => {
        for (let number = 1; number <= 600; number++) await admit(store, { number });
        await Promise.all(
          Array.from({ length: 600 }, (_, i) => store.tasks.requestCancel(taskId(i + 1), ACCOUNT, NOW + i)),
        );
        const recent = await store.tasks.recentEndings(NOW);
        expect(recent?.since).toBeGreaterThan(NOW);
        expect(recent?.since).toBeLessThan(NOW + 599);
      }),
    );

    test(
      "of more accounts than are read are left out",
      withStore(make, async (store) => {
        for (let number = 2; number <= 40; number++) await addAccount(store, { id: accountId(number) });
        expect(await store.tasks.recentEndings(NOW)).toBeUndefined();
      }),
    );
  });
}

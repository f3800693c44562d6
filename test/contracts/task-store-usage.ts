import { describe, expect, test } from "bun:test";
import { taskError } from "../../src/domain/errors.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import type { UsageStore } from "../../src/domain/ports/usage-store.ts";
import { cancelled, failed, outputsReady, snoozed, succeeded } from "../../src/domain/transition.ts";
import { dayOf, sumUsage } from "../../src/domain/usage.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  attemptId,
  callbackId,
  claimQuery,
  keyId,
  micros,
  NOW,
  newAsset,
  newIntent,
  type StoreUnderTest,
  taskId,
  withStore,
} from "../helpers/store.ts";

interface MeteredStore extends StoreUnderTest {
  readonly usage: UsageStore;
}

const DAY_MS = 86_400_000;
const TODAY = dayOf(NOW);
const NOTHING = { completed: 0, failed: 0, cancelled: 0, outputs: 0, charged: micros(0) };
const ENDINGS = ["completed", "failed", "cancelled"] as const;
type Ended = (typeof ENDINGS)[number];

/** What every store does for `UsageStore`, and its `TaskStore` with it. `make` gives an empty store each time. */
export function describeUsage(name: string, make: () => MeteredStore): void {
  const withMetered = (body: (store: MeteredStore) => Promise<void>) => {
    let made: MeteredStore | undefined;
    return withStore(
      () => {
        made = make();
        return made;
      },
      async () => body(made!),
    );
  };

  describe(name, () => {
    test(
      "each way to end adds to the day on which the task ended, as often as it happens",
      withMetered(async (store) => {
        for (const [i, status] of [...ENDINGS, ...ENDINGS].entries()) {
          await admit(store, { number: i + 1 });
          await end(store, i + 1, status, NOW + DAY_MS * (i % 3));
        }
        expect(await store.usage.days(ACCOUNT, 0, TODAY + 9)).toEqual([
          { day: TODAY, ...NOTHING, completed: 2, outputs: 4, charged: micros(80_000) },
          { day: TODAY + 1, ...NOTHING, failed: 2 },
          { day: TODAY + 2, ...NOTHING, cancelled: 2 },
        ]);
        expect(await store.usage.days(ACCOUNT, TODAY + 1, TODAY + 1)).toHaveLength(1);
      }),
    );

    test(
      "a queued task cancelled by its owner counts on the day of the cancel, once",
      withMetered(async (store) => {
        await admit(store);
        const at = NOW + 3 * DAY_MS;
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, at)).toBe("cancelled");
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, at)).toBe("already_final");
        expect(await store.usage.days(ACCOUNT, 0, TODAY + 9)).toEqual([
          { day: TODAY + 3, ...NOTHING, cancelled: 1 },
        ]);
      }),
    );

    test(
      "nothing is added by a step that does not end a task, by a request to cancel one under way, or under a lost lease",
      withMetered(async (store) => {
        await admit(store);
        const lease = await claim(store, NOW);
        expect(await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW)).toBe("requested");
        await store.tasks.apply(lease, snoozed(lease.task, NOW, { dueAt: NOW, failures: 1 }));
        const error = taskError("UPSTREAM_ERROR");
        const late = failed(lease.task, NOW, error, callbackId(1));
        expect(await store.tasks.apply(lease, late)).toBe("lease_lost");
        expect(await store.usage.days(ACCOUNT, 0, TODAY + 9)).toEqual([]);
      }),
    );

    test(
      "keys, models and accounts are counted apart, and what is charged is what the ledger captured",
      withMetered(async (store) => {
        const other = accountId(2);
        await addAccount(store, { id: other, mode: "prepaid", credit: micros(1_000_000) });
        const tasks = [
          { accountId: ACCOUNT, keyId: keyId(1), model: "a" as ModelId, held: micros(40_000) },
          { accountId: ACCOUNT, keyId: keyId(1), model: "b" as ModelId, held: micros(40_000) },
          { accountId: ACCOUNT, keyId: keyId(2), model: "a" as ModelId, held: micros(40_000) },
          // Held less than the quote comes to: no more is captured.
          { accountId: other, keyId: keyId(3), model: "a" as ModelId, held: micros(30_000) },
          { accountId: other, keyId: keyId(3), model: "a" as ModelId, held: micros(0) },
        ];
        for (const [i, task] of tasks.entries()) {
          await admit(store, { number: i + 1, ...task });
          await end(store, i + 1, "completed", NOW + i * DAY_MS);
        }
        for (const account of [ACCOUNT, other]) {
          const captures = (await store.accounts.ledger(account)).filter(({ kind }) => kind === "capture");
          const captured = captures.reduce((sum, { balanceDelta }) => sum - balanceDelta, 0);
          expect(sumUsage(await store.usage.days(account, 0, TODAY + 9)).charged).toBe(micros(captured));
        }
        const charged = (key: number, account = ACCOUNT) => store.usage.chargedTo(account, keyId(key));
        expect(await Promise.all([charged(1), charged(2), charged(3), charged(3, other)])).toEqual([
          micros(80_000),
          micros(40_000),
          micros(0),
          micros(30_000),
        ]);
      }),
    );

    test(
      "live tasks of a key are counted up to a limit, those of others and ended ones are not",
      withMetered(async (store) => {
        for (let number = 1; number <= 4; number++) await admit(store, { number });
        await admit(store, { number: 5, keyId: keyId(2) });
        await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
        expect(await store.usage.liveTasks(ACCOUNT, keyId(1), 10)).toBe(3);
        expect(await store.usage.liveTasks(ACCOUNT, keyId(1), 2)).toBe(2);
        expect(await store.usage.liveTasks(accountId(2), keyId(1), 10)).toBe(0);
      }),
    );

    test(
      "durations are those of the completed among the tasks begun last, from first submission to end",
      withMetered(async (store) => {
        const ends = ["completed", "failed", "completed", "completed"] as const;
        for (const [i, status] of ends.entries()) {
          // Begun a second after it was accepted.
          await admit(store, { number: i + 1, model: `m${i + 1}` as ModelId, createdAt: NOW - 1000 });
          await end(store, i + 1, status, NOW + 100 * (i + 1));
        }
        await admit(store, { number: 9 });
        const durations = await store.usage.recentDurations(3);
        expect(durations).toEqual([
          { model: "m4" as ModelId, durationMs: 400 },
          { model: "m3" as ModelId, durationMs: 300 },
        ]);
      }),
    );
  });
}

/** Claims the one task that is due. */
async function claim(store: StoreUnderTest, now: number) {
  const { leases } = await store.tasks.claim(claimQuery({ now, limit: 1 }));
  expect(leases).toHaveLength(1);
  return leases[0]!;
}

/** Takes the one task that is due to its end at `at`; a completed one has two outputs. */
async function end(store: StoreUnderTest, number: number, status: Ended, at: number): Promise<void> {
  const lease = await claim(store, NOW);
  const attempt = attemptId(number);
  const { task } = lease;
  expect(await store.tasks.begin(lease, newIntent({ id: attempt }))).toBe("begun");
  await store.tasks.apply(lease, outputsReady(NOW, attempt, [], undefined));
  const output = { accountId: task.accountId, taskId: task.id };
  const assets = [0, 1].map((index) => newAsset({ ...output, number: number * 10 + index, index }));
  const transition = {
    completed: () => succeeded(task, at, attempt, assets, undefined, callbackId(number)),
    failed: () => failed(task, at, taskError("UPSTREAM_ERROR"), callbackId(number)),
    cancelled: () => cancelled(task, at),
  }[status]();
  expect(await store.tasks.apply(lease, transition)).toBe("applied");
}

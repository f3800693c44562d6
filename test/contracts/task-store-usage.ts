import { describe, expect, test } from "bun:test";
import { dayOf } from "../../src/domain/day.ts";
import { taskError } from "../../src/domain/errors.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import { sumUsage } from "../../src/domain/money/usage.ts";
import { failed, requeued, snoozed, unanswered } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  attemptId,
  bySystem,
  callbackId,
  claimOne,
  endOne,
  keyId,
  LANE,
  lane,
  type MakeStore,
  micros,
  NOW,
  newIntent,
  newTask,
  taskId,
  withStore,
} from "../helpers/store.ts";

const DAY_MS = 86_400_000;
const TODAY = dayOf(NOW);
const NOTHING = { completed: 0, failed: 0, cancelled: 0, outputs: 0, charged: micros(0) };
const ENDINGS = ["completed", "failed", "cancelled"] as const;

/** What every store does for `UsageStore`, and its `TaskStore` with it. `make` gives an empty store each time. */
export function describeUsage(name: string, make: MakeStore): void {
  describe(name, () => {
    test(
      "each way to end adds to the day on which the task ended, as often as it happens",
      withStore(make, async (store) => {
        for (const [i, status] of [...ENDINGS, ...ENDINGS].entries()) {
          await admit(store, { number: i + 1 });
          await endOne(store, status, { at: NOW + DAY_MS * (i % 3), outputs: 2 });
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
      withStore(make, async (store) => {
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
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
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
      withStore(make, async (store) => {
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
          await endOne(store, "completed", { at: NOW + i * DAY_MS, outputs: 2 });
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
      withStore(make, async (store) => {
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
      withStore(make, async (store) => {
        const ends = ["completed", "failed", "completed", "completed"] as const;
        for (const [i, status] of ends.entries()) {
          // Begun a second after it was accepted.
          await admit(store, { number: i + 1, model: `m${i + 1}` as ModelId, createdAt: NOW - 1000 });
          await endOne(store, status, { at: NOW + 100 * (i + 1), outputs: 2 });
        }
        await admit(store, { number: 9 });
        const durations = await store.usage.recentDurations(3);
        expect(durations).toEqual([
          { model: "m4" as ModelId, durationMs: 400 },
          { model: "m3" as ModelId, durationMs: 300 },
        ]);
      }),
    );

    test(
      "a report has a line for each key, model or day, of one account or of all, within its days alone",
      withStore(make, async (store) => {
        const other = accountId(2);
        await addAccount(store, { id: other });
        const tasks = [
          { accountId: ACCOUNT, keyId: keyId(1), model: "a" as ModelId },
          { accountId: ACCOUNT, keyId: keyId(2), model: "b" as ModelId },
          { accountId: ACCOUNT, keyId: keyId(1), model: "a" as ModelId },
          { accountId: other, keyId: keyId(3), model: "a" as ModelId },
          { accountId: ACCOUNT, keyId: keyId(1), model: "a" as ModelId },
        ];
        for (const [i, task] of tasks.entries()) {
          await admit(store, { number: i + 1, ...task });
          await endOne(store, i === 2 ? "failed" : "completed", { at: NOW + DAY_MS * i });
        }
        const range = { from: TODAY, to: TODAY + 3 };
        const once = { ...NOTHING, completed: 1, outputs: 1, charged: micros(40_000) };
        const mine = { ...range, accountId: ACCOUNT };
        expect(await store.usage.report({ ...mine, by: "key" })).toEqual([
          { accountId: ACCOUNT, keyId: keyId(1), ...once, failed: 1 },
          { accountId: ACCOUNT, keyId: keyId(2), ...once },
        ]);
        expect(await store.usage.report({ ...mine, by: "model" })).toEqual([
          { model: "a" as ModelId, ...once, failed: 1 },
          { model: "b" as ModelId, ...once },
        ]);
        expect(await store.usage.report({ ...range, by: "day" })).toEqual([
          { day: TODAY, ...once },
          { day: TODAY + 1, ...once },
          { day: TODAY + 2, ...NOTHING, failed: 1 },
          { day: TODAY + 3, ...once },
        ]);
        expect(await store.usage.report({ ...mine, by: "day", and: "model" })).toEqual([
          { day: TODAY, model: "a" as ModelId, ...once },
          { day: TODAY + 1, model: "b" as ModelId, ...once },
          { day: TODAY + 2, model: "a" as ModelId, ...NOTHING, failed: 1 },
        ]);
        expect(await store.usage.report({ ...range, by: "account" })).toEqual([
          { accountId: ACCOUNT, ...once, completed: 2, failed: 1, outputs: 2, charged: micros(80_000) },
          { accountId: other, ...once },
        ]);
        const keys = await store.usage.report({ ...range, by: "key" });
        expect(keys.map((line) => line.keyId)).toEqual([keyId(1), keyId(2), keyId(3)]);
      }),
    );

    test(
      "sums of more than 2^53 micro-units are exact",
      withStore(make, async (store) => {
        const much = micros(8_000_000_000_000_000);
        const { quote } = newTask();
        const lines = quote.lines.map((line) => ({ ...line, unitMicros: much }));
        for (const number of [1, 2]) {
          await admit(store, { number, held: much, quote: { ...quote, lines, ceiling: much } });
          await endOne(store, "completed", { cost: much });
          await store.accounts.credit(ACCOUNT, much, "paid", bySystem());
        }
        const sum = 2n * BigInt(much);
        expect(await store.usage.days(ACCOUNT, TODAY, TODAY)).toMatchObject([{ charged: sum }]);
        expect(await store.usage.chargedTo(ACCOUNT, keyId(1))).toBe(sum);
        const keys = [2, 1].map((number) => ({ id: keyId(number), accountId: ACCOUNT }));
        expect(await store.usage.chargedSince(keys, TODAY)).toEqual([micros(0), sum]);
        expect(await store.usage.chargedSince(keys, TODAY + 1)).toEqual([micros(0), micros(0)]);
        for (const by of ["day", "provider"] as const)
          expect(await store.usage.report({ from: TODAY, to: TODAY, by })).toMatchObject([
            { completed: 2, charged: sum, cost: sum, chargedAtCost: sum },
          ]);
      }),
    );

    test(
      "a task's charge counts once beside the costs of all its attempts",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        const rejected = { id: attemptId(99), state: "rejected", costMicros: micros(7) } as const;
        await store.tasks.begin(lease, newIntent({ id: rejected.id }));
        const again = requeued(NOW, { dueAt: NOW, failures: 0, lane: LANE, routeIndex: 0 });
        await store.tasks.apply(lease, { ...again, attempt: rejected });
        await endOne(store, "completed", { cost: micros(15_000) });
        expect(await store.usage.report({ from: TODAY, to: TODAY, by: "day" })).toMatchObject([
          { completed: 1, charged: 40_000, cost: 15_007, chargedAtCost: 40_000 },
        ]);
      }),
    );

    test(
      "by provider, a charge is that of the one that had the task last, and costs are those of each; removed tasks count on",
      withStore(make, async (store) => {
        const elsewhere = lane("elsewhere");
        await admit(store);
        const lease = await claimOne(store);
        const rejected = { id: attemptId(99), state: "rejected", costMicros: micros(7) } as const;
        await store.tasks.begin(lease, newIntent({ id: rejected.id, lane: elsewhere }));
        const again = requeued(NOW, { dueAt: NOW, failures: 0, lane: LANE, routeIndex: 0 });
        await store.tasks.apply(lease, { ...again, attempt: rejected });
        await endOne(store, "completed", { cost: micros(15_000) });
        await admit(store, { number: 2 });
        await endOne(store, "failed");
        const range = { from: TODAY, to: TODAY };
        const expected = [
          {
            provider: LANE,
            ...NOTHING,
            completed: 1,
            failed: 1,
            outputs: 1,
            charged: 40_000,
            cost: 15_000,
            chargedAtCost: 40_000,
          },
        ];
        expect(await store.usage.report({ ...range, by: "provider" })).toMatchObject(expected);
        for (const number of [1, 2]) await store.retention.remove(taskId(number), NOW, ACCOUNT);
        expect(await store.usage.report({ ...range, by: "provider", and: "day" })).toMatchObject(expected);
        const [line] = await store.usage.report({ ...range, by: "provider", isWithoutCosts: true });
        expect(line).not.toHaveProperty("cost");
      }),
    );

    test(
      "a submission without an answer counts as made again where another one followed",
      withStore(make, async (store) => {
        for (const number of [1, 2]) {
          await admit(store, { number });
          const lease = await claimOne(store);
          const lost = { id: attemptId(90 + number), state: "ambiguous" } as const;
          await store.tasks.begin(lease, newIntent({ id: lost.id }));
          if (number === 2) {
            await store.tasks.apply(
              lease,
              failed(lease.task, NOW, taskError("OUTCOME_UNKNOWN"), callbackId(1), lost),
            );
            continue;
          }
          const again = requeued(NOW, { dueAt: NOW, failures: 0, lane: LANE, routeIndex: 0 });
          await store.tasks.apply(lease, { ...again, attempt: lost });
          await endOne(store, "completed", {});
        }
        const [line] = await store.usage.report({ from: TODAY, to: TODAY, by: "key" });
        expect(line).toMatchObject({ completed: 1, failed: 1, resubmitted: 1 });
      }),
    );

    test(
      "what ways cost counts from the end of their attempts, where it is known",
      withStore(make, async (store) => {
        const ends = [
          { at: NOW - 1, cost: micros(5) },
          { at: NOW, cost: micros(15_000) },
          { at: NOW + 1, cost: micros(2) },
          { at: NOW + 2 },
        ];
        for (const [i, end] of ends.entries()) {
          await admit(store, { number: i + 1 });
          await endOne(store, i === 2 ? "failed" : "completed", end);
        }
        const { upstreamModel } = newIntent();
        expect(await store.usage.spentSince(NOW)).toEqual([
          { lane: LANE, upstreamModel, cost: micros(15_002) },
        ]);
        expect(await store.usage.spentSince(NOW + 2)).toEqual([]);
      }),
    );

    test(
      "what a submission without an answer may cost counts when another one follows",
      withStore(make, async (store) => {
        await admit(store);
        const lease = await claimOne(store);
        const lost = { id: attemptId(90), costMicros: micros(7) };
        await store.tasks.begin(lease, newIntent({ id: lost.id }));
        const again = unanswered(NOW, "queued", { dueAt: NOW, failures: 1 }, lost);
        expect(await store.tasks.apply(lease, again)).toBe("applied");
        await endOne(store, "completed", { cost: micros(5) });
        const { upstreamModel } = newIntent();
        expect(await store.usage.spentSince(NOW)).toEqual([{ lane: LANE, upstreamModel, cost: micros(12) }]);
      }),
    );

    test(
      "a report has what upstreams charged, and what was charged for those very tasks; nothing where no cost is known",
      withStore(make, async (store) => {
        for (const [i, cost] of [micros(15_000), undefined, micros(0)].entries()) {
          await admit(store, { number: i + 1, model: (i === 1 ? "b" : "a") as ModelId });
          await endOne(store, "completed", cost === undefined ? {} : { cost });
        }
        await admit(store, { number: 4, model: "a" as ModelId });
        await endOne(store, "failed", { cost: micros(5_000) });
        await admit(store, { number: 5, model: "a" as ModelId });
        await endOne(store, "completed", {});
        await admit(store, { number: 6, model: "a" as ModelId });
        await endOne(store, "completed", { at: NOW + DAY_MS, cost: micros(1) });
        const lines = await store.usage.report({ from: TODAY, to: TODAY, by: "model" });
        expect(
          lines.map(({ model, charged, cost, chargedAtCost }) => [model, charged, cost, chargedAtCost]),
        ).toEqual([
          ["a" as ModelId, micros(120_000), micros(20_000), micros(80_000)],
          ["b" as ModelId, micros(40_000), undefined, undefined],
        ]);
      }),
    );
  });
}

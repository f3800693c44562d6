import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { taskError } from "../../src/domain/errors.ts";
import type { AccountId } from "../../src/domain/ids.ts";
import type { Lease } from "../../src/domain/task/task.ts";
import { cancelled, failed, outputsReady, snoozed, succeeded } from "../../src/domain/task/transition.ts";
import {
  accountId,
  addAccount,
  admit,
  attemptId,
  byHand,
  callbackId,
  claimQuery,
  type MakeStore,
  micros,
  NOW,
  newAsset,
  newIntent,
  type StoreUnderTest,
  taskId,
  withStore,
} from "../helpers/store.ts";

const ACCOUNTS = [accountId(11), accountId(12)] as const;

/** One step of the random walk; `pick` chooses among what is there. */
const step = fc.record({
  verb: fc.constantFrom(
    "admit",
    "claim",
    "begin",
    "ready",
    "succeed",
    "fail",
    "cancel",
    "snooze",
    "end",
    "credit",
  ),
  pick: fc.nat(),
  amount: fc.integer({ min: 0, max: 90_000 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

export function describeMoney(make: MakeStore): void {
  describe("money", () => {
    test("a balance is the sum of its ledger and a hold that of the live tasks, whatever happens", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
          await withStore(make, async (store) => {
            await addAccount(store, { id: ACCOUNTS[0], mode: "prepaid", credit: micros(200_000) });
            await addAccount(store, { id: ACCOUNTS[1] });
            await walk(store, steps);
            for (const account of ACCOUNTS) await expectExact(store, account);
          })();
        }),
        { numRuns: 12, seed: 7 },
      );
    }, 60_000);
  });
}

/** Does each step, several at once where `pick` says so, with tokens and stages that are often wrong by then. */
async function walk(store: StoreUnderTest, steps: readonly Step[]): Promise<void> {
  const leases: Lease[] = [];
  let number = 0;
  let inFlight: Promise<unknown>[] = [];

  function act({ verb, pick, amount }: Step): Promise<unknown> {
    const lease = leases[pick % Math.max(1, leases.length)];
    const account = ACCOUNTS[pick % 2] ?? ACCOUNTS[0];
    number += 1;
    switch (verb) {
      case "admit":
        return admit(store, { number, accountId: account, held: micros(amount) });
      case "claim":
        return store.tasks
          .claim(claimQuery({ limit: 3, leaseMs: pick % 2 === 0 ? 0 : 30_000 }))
          .then((claimed) => {
            leases.push(...claimed.leases);
          });
      case "cancel":
        return store.tasks.requestCancel(taskId(pick % (number + 1)), account, NOW);
      case "credit":
        return store.accounts.credit(account, micros(amount), "walk", byHand(NOW));
      default:
        return lease === undefined ? Promise.resolve() : advance(store, lease, verb, number);
    }
  }

  for (const each of steps) {
    inFlight.push(act(each));
    if (each.pick % 3 === 0) {
      // A step may ask for what cannot be, such as an attempt that is not there; then nothing of it must be left.
      await Promise.allSettled(inFlight);
      inFlight = [];
    }
  }
  await Promise.allSettled(inFlight);
}

function advance(store: StoreUnderTest, lease: Lease, verb: Step["verb"], number: number): Promise<unknown> {
  const { task } = lease;
  const attempt = attemptId(Number(task.id.slice(-6)));
  const error = taskError("UPSTREAM_ERROR");
  switch (verb) {
    case "begin":
      return store.tasks.begin(lease, newIntent({ id: attempt }));
    case "ready":
      return store.tasks.apply(lease, outputsReady(NOW, attempt, []));
    case "succeed": {
      const asset = newAsset({ number, accountId: task.accountId, taskId: task.id });
      return store.tasks.apply(lease, succeeded(task, NOW, attempt, [asset], undefined, callbackId(number)));
    }
    case "fail":
      return store.tasks.apply(lease, failed(task, NOW, error, callbackId(number)));
    case "snooze":
      return store.tasks.apply(lease, snoozed(task, NOW, { dueAt: NOW, failures: 1 }));
    default:
      return store.tasks.apply(lease, cancelled(task, NOW));
  }
}

async function expectExact(store: StoreUnderTest, id: AccountId): Promise<void> {
  const account = await store.accounts.account(id);
  const ledger = await store.accounts.ledger(id);
  const listed = await store.tasks.list({ accountId: id, limit: 100 });
  const tasks = (await Promise.all(listed.map((task) => store.tasks.byId(task.id)))).filter(
    (task) => task !== undefined,
  );
  const live = tasks.filter((task) => task.stage !== "terminal");
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
  expect(account?.balance).toBe(micros(sum(ledger.map((entry) => entry.balanceDelta))));
  expect(account?.held).toBe(micros(sum(ledger.map((entry) => entry.heldDelta))));
  expect(account?.held).toBe(micros(sum(live.map((task) => task.held))));
  if (account?.mode === "prepaid") expect(account.balance - account.held).toBeGreaterThanOrEqual(0);
  for (const task of tasks.filter((each) => each.stage === "terminal")) {
    const entries = ledger.filter((entry) => entry.taskId === task.id);
    expect(sum(entries.map((entry) => entry.heldDelta))).toBe(0);
    expect(sum(entries.map((entry) => entry.balanceDelta)) + (task.charged ?? 0)).toBe(0);
  }
}

import { afterEach, describe, expect, test } from "bun:test";
import { dayOf } from "../../src/domain/day.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { AccountId } from "../../src/domain/ids.ts";
import { toMicros } from "../../src/domain/money/money.ts";
import type { UsageLine } from "../../src/domain/ports/usage-store.ts";
import { succeeded } from "../../src/domain/task/transition.ts";
import { createAddresses } from "../../src/runtime/address-ranges.ts";
import { createManageAccounts } from "../../src/service/manage-account.ts";
import { openEmptyStore } from "../helpers/open-store.ts";

import { fakeSecrets } from "../helpers/secrets.ts";
import {
  admit,
  attemptId,
  callbackId,
  claimOne,
  NOW,
  newAsset,
  newIntent,
  taskId,
  tokenId,
} from "../helpers/store.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const micros = toMicros;
const BY_TOKEN = { reason: "as agreed" };

async function setup({ credit = 100_000, lines }: { credit?: number; lines?: UsageLine[] } = {}) {
  const store = openEmptyStore();
  stops.push(store.stop);
  const { accounts } = store;
  let id = 0;
  const manage = createManageAccounts({
    actor: { kind: "token", tokenId: tokenId(1), tokenName: "console", scopes: ["money"] },
    accounts,
    sessions: store.sessions,
    usage: lines === undefined ? store.usage : { report: async () => lines },
    charges: store.usage,
    addresses: createAddresses(),
    clock: { now: () => NOW },
    ids: { create: (prefix) => `${prefix}_${String(++id).padStart(26, "0")}` as never },
    secrets: fakeSecrets({ newBody: () => String(++id).padStart(32, "0") }),
  });
  const account = await manage.createAccount({ name: "web", credit: micros(credit) });
  const { record: key } = await manage.createKey({ name: "shop", account: "web" });
  const own = { accountId: account.id, keyId: key.id };
  return {
    manage,
    accounts,
    own,
    /** A task that costs 0.04, under way no further than accepted. */
    accept: (number: number) => admit(store, { number, ...own }),
    async complete(number: number) {
      await admit(store, { number, ...own });
      const lease = await claimOne(store);
      await store.tasks.begin(lease, newIntent({ id: attemptId(number) }));
      const asset = newAsset({ number, taskId: lease.task.id, accountId: own.accountId as AccountId });
      const end = succeeded(lease.task, NOW, attemptId(number), [asset], undefined, callbackId(number));
      expect(await store.tasks.apply(lease, end)).toBe("applied");
    },
  };
}

async function refusal(attempt: Promise<unknown>) {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof AppError) return [error.code, error.param, error.message];
  throw new Error(`Expected an AppError, got ${String(error)}`);
}

describe("the terms of an account", () => {
  test("change one by one, and are taken back one by one", async () => {
    const { manage } = await setup();
    const terms = {
      mode: "unlimited",
      creditLimit: micros(10_000_000),
      priceMultiplier: 1_250_000,
      lowBalance: micros(5_000_000),
    } as const;
    const before = await manage.readAccount("web");
    const changed = await manage.updateAccount("web", terms);
    expect(changed).toEqual({ ...before, ...terms });
    expect(await manage.readAccount("web")).toEqual(changed);
    expect(await manage.updateAccount("web", { lowBalance: null })).toEqual({
      ...changed,
      lowBalance: undefined,
    });
    const back = { mode: "prepaid", creditLimit: null, priceMultiplier: null } as const;
    expect(await manage.updateAccount("web", back)).toEqual(before);
  });

  test.each([
    [{ creditLimit: micros(-1) }, "credit_limit", 'credit_limit must be an amount from 0, got "-0.000001".'],
    [{ lowBalance: micros(-1) }, "low_balance", 'low_balance must be an amount from 0, got "-0.000001".'],
    [{ priceMultiplier: 0 }, "price_multiplier", "must be above 0 and at most 1000, got 0."],
    [{ priceMultiplier: 0.5 }, "price_multiplier", "must be above 0 and at most 1000"],
    [{ priceMultiplier: 1_000_000_001 }, "price_multiplier", "got 1000.000001."],
  ])("cannot be %j", async (terms, param, says) => {
    const { manage } = await setup();
    const before = await manage.readAccount("web");
    const [code, field, message] = await refusal(manage.updateAccount("web", terms));
    expect([code, field]).toEqual(["invalid_request", param]);
    expect(message).toContain(says);
    expect(await manage.readAccount("web")).toEqual(before);
  });

  test("cannot leave a prepaid account with less than nothing, which is told in figures", async () => {
    const { manage, accept } = await setup({ credit: 30_000 });
    await manage.updateAccount("web", { creditLimit: micros(20_000) });
    await accept(1);
    const before = await manage.readAccount("web");
    expect(before).toMatchObject({ balance: 30_000, held: 40_000 });
    expect(await refusal(manage.updateAccount("web", { creditLimit: micros(4_000) }))).toEqual([
      "invalid_request",
      "credit_limit",
      "credit_limit must be at least 0.010000 for this account to be prepaid, got 0.004000: it has 0.030000 USD with 0.040000 held. Credit 0.006000 first, or raise the limit.",
    ]);
    expect(await manage.readAccount("web")).toEqual(before);
    const unlimited = await manage.updateAccount("web", { mode: "unlimited", creditLimit: null });
    expect(unlimited.creditLimit).toBe(micros(0));
    expect((await refusal(manage.updateAccount("web", { mode: "prepaid" })))[1]).toBe("credit_limit");
    const exact = { mode: "prepaid", creditLimit: micros(10_000) } as const;
    expect(await manage.updateAccount("web", exact)).toMatchObject(exact);
  });

  test("a credit or a debit that cannot be is refused in figures, and changes nothing", async () => {
    const { manage, accept } = await setup({ credit: 30_000 });
    await manage.updateAccount("web", { creditLimit: micros(20_000) });
    await accept(1);
    const before = await manage.readAccount("web");
    const movement = { reason: "fee" };
    expect(await refusal(manage.creditAccount("web", micros(-10_001), movement))).toEqual([
      "invalid_request",
      undefined,
      "The account has 0.030000, 0.040000 of it held and a credit limit of 0.020000; -0.010001 would leave less than is held.",
    ]);
    const most = micros(Number.MAX_SAFE_INTEGER);
    expect(await refusal(manage.creditAccount("web", most, movement))).toEqual([
      "invalid_request",
      "amount",
      "The account has 0.030000; with 9007199254.740991 more it would have more than can be counted.",
    ]);
    expect(await manage.readAccount("web")).toEqual(before);
  });

  test("of an unknown account are not there", async () => {
    const { manage } = await setup();
    expect((await refusal(manage.updateAccount("nope", { lowBalance: null })))[0]).toBe("not_found");
    expect((await refusal(manage.suspendAccount("nope")))[0]).toBe("not_found");
  });
});

test("an account is suspended and active again, as often as it is said", async () => {
  const { manage, accounts } = await setup();
  const { hash } = await manage.showKey("shop");
  const statusOfGrant = async () => (await accounts.grantByHash(hash, NOW))?.accountStatus;
  for (const status of ["suspended", "suspended"] as const) {
    expect((await manage.suspendAccount("web")).status).toBe(status);
    expect(await statusOfGrant()).toBe(status);
  }
  for (const status of ["active", "active"] as const) {
    expect((await manage.activateAccount("web")).status).toBe(status);
    expect(await statusOfGrant()).toBe(status);
  }
});

describe("a refund", () => {
  test("gives back what the task was charged, with who and why in the ledger", async () => {
    const { manage, complete } = await setup();
    await complete(1);
    expect((await manage.readAccount("web")).balance).toBe(micros(60_000));
    const { account, ...refunded } = await manage.refundTask(taskId(1), BY_TOKEN);
    expect(refunded).toEqual({ taskId: taskId(1), amount: micros(40_000) });
    expect(account).toEqual(await manage.readAccount("web"));
    expect(account.balance).toBe(micros(100_000));
    const { rows } = await manage.readLedger("web", { limit: 1 });
    expect(rows).toMatchObject([
      {
        kind: "refund",
        balanceDelta: 40_000,
        heldDelta: 0,
        taskId: taskId(1),
        balance: 100_000,
        actor: tokenId(1),
        ...BY_TOKEN,
      },
    ]);
  });

  test("may be of a part, and is then done", async () => {
    const { manage, complete } = await setup();
    await complete(1);
    await manage.refundTask(taskId(1), { ...BY_TOKEN, amount: micros(1) });
    expect(await refusal(manage.refundTask(taskId(1), BY_TOKEN))).toEqual([
      "invalid_request",
      "task",
      `The task "${taskId(1)}" was refunded already, which is done once.`,
    ]);
    expect((await manage.readAccount("web")).balance).toBe(micros(60_001));
  });

  test("cannot be of more than was charged, of nothing, or of a task that cost nothing", async () => {
    const { manage, accept, complete } = await setup();
    await complete(1);
    await accept(2);
    const before = await manage.readLedger("web", { limit: 100 });
    const refund = (task: string, amount?: number) =>
      refusal(
        manage.refundTask(task, { ...BY_TOKEN, amount: amount === undefined ? undefined : micros(amount) }),
      );
    expect(await refund(taskId(1), 40_001)).toEqual([
      "invalid_request",
      "amount",
      "amount must be at most the 0.040000 USD that the task was charged, got 0.040001.",
    ]);
    expect(await refund(taskId(1), 0)).toEqual([
      "invalid_request",
      "amount",
      "amount must be above zero, got 0.000000.",
    ]);
    expect((await refund(taskId(1), -1))[1]).toBe("amount");
    expect(await refund(taskId(2))).toEqual([
      "invalid_request",
      "task",
      `The task "${taskId(2)}" was charged nothing that could be given back.`,
    ]);
    expect((await refund(taskId(3)))[0]).toBe("not_found");
    expect((await refund("x"))[0]).toBe("not_found");
    expect(await manage.readLedger("web", { limit: 100 })).toEqual(before);
  });
});

test.each([[""], ["x".repeat(501)], ["a\nb"], ["\u001b[2J"]])(
  "money does not move for the reason %j",
  async (reason) => {
    const { manage, complete } = await setup();
    await complete(1);
    const movement = { reason };
    expect((await refusal(manage.creditAccount("web", micros(1), movement)))[1]).toBe("reason");
    expect((await refusal(manage.refundTask(taskId(1), movement)))[1]).toBe("reason");
    expect((await manage.readAccount("web")).balance).toBe(micros(60_000));
  },
);

describe("a ledger", () => {
  test("is read newest first, page by page, with the balance after each row", async () => {
    const { manage, complete, own } = await setup();
    await complete(1);
    await manage.creditAccount("web", micros(-10_000), BY_TOKEN);
    const all = await manage.readLedger("web", { limit: 100 });
    expect(all.next).toBeUndefined();
    expect(all.rows.map(({ kind, balance, actor }) => [kind, Number(balance), actor])).toEqual([
      ["adjustment", 50_000, tokenId(1)],
      ["capture", 60_000, "system"],
      ["hold", 100_000, own.keyId],
      ["credit", 100_000, tokenId(1)],
    ]);
    const first = await manage.readLedger("web", { limit: 3 });
    const second = await manage.readLedger(own.accountId, { limit: 3, before: first.next });
    expect([...first.rows, ...second.rows]).toEqual([...all.rows]);
    expect([first.next, second.next]).toEqual([all.rows[2]?.number, undefined]);
  });

  test("ends where a page is just full", async () => {
    const { manage } = await setup();
    expect((await manage.readLedger("web", { limit: 1 })).next).toBeUndefined();
  });
});

describe("usage", () => {
  test("is told by key with names, by model and by day, each to the same sum", async () => {
    const { manage, complete, own } = await setup();
    await complete(1);
    await complete(2);
    await manage.refundTask(taskId(1), BY_TOKEN);
    const sum = {
      completed: 2,
      failed: 0,
      cancelled: 0,
      outputs: 2,
      charged: micros(80_000),
      resubmitted: 0,
    };
    const today = dayOf(NOW);
    const days = { since: today - 30, until: today };
    expect(await manage.readUsage({ by: "key" })).toEqual({
      by: "key",
      ...days,
      rows: [{ account: { id: own.accountId, name: "web" }, key: { id: own.keyId, name: "shop" }, ...sum }],
      total: sum,
    });
    expect((await manage.readUsage({ by: "model" })).rows).toEqual([{ model: "sandbox-image", ...sum }]);
    expect(await manage.readUsage({})).toMatchObject({
      by: "day",
      rows: [{ day: today, ...sum }],
      total: sum,
    });
  });

  test("is of two things where that is asked for, with the names of both", async () => {
    const { manage, complete } = await setup();
    await complete(1);
    const { rows, ...rest } = await manage.readUsage({ by: "day", and: "account" });
    expect(rest).toMatchObject({ by: "day", and: "account" });
    expect(rows).toMatchObject([{ day: dayOf(NOW), account: { name: "web" }, completed: 1 }]);
    expect(rows[0]?.key).toBeUndefined();
  });

  test("of more lines than a report has is refused", async () => {
    const sum = { completed: 1, failed: 0, cancelled: 0, outputs: 1, charged: micros(1) };
    const { manage } = await setup({ lines: Array.from({ length: 10_001 }, (_, day) => ({ day, ...sum })) });
    expect((await refusal(manage.readUsage({})))[0]).toBe("invalid_request");
  });

  test("is of the days and the account asked for", async () => {
    const { manage, complete } = await setup();
    await complete(1);
    await manage.createAccount({ name: "other" });
    const today = dayOf(NOW);
    const counts = async (request: Parameters<typeof manage.readUsage>[0]) =>
      (await manage.readUsage(request)).total.completed;
    expect([
      await counts({ since: today, until: today }),
      await counts({ until: today - 1 }),
      await counts({ since: today + 1, until: today + 1 }),
      await counts({ account: "web" }),
      await counts({ account: "other" }),
    ]).toEqual([1, 0, 0, 1, 0]);
  });

  test("is refused of days that end before they begin, and of nobody", async () => {
    const { manage } = await setup();
    expect(await refusal(manage.readUsage({ since: 11, until: 10 }))).toEqual([
      "invalid_request",
      "since",
      "since must not be after until, which is 1970-01-11, got 1970-01-12.",
    ]);
    expect((await refusal(manage.readUsage({ account: "nope" })))[0]).toBe("not_found");
  });
});

test("a margin is what was charged where the cost is known, less that; and not told where it is not", async () => {
  const lines = [
    { day: 1, cost: micros(7), chargedAtCost: micros(10), charged: micros(30) },
    { day: 2, cost: micros(5), chargedAtCost: micros(4), charged: micros(4) },
    { day: 3, charged: micros(100) },
  ].map((line) => ({ completed: 1, failed: 0, cancelled: 0, outputs: 1, ...line }));
  const { manage } = await setup({ lines });
  const { rows, total } = await manage.readUsage({ by: "day" });
  expect(rows.map(({ cost, margin }) => [cost, margin].map((each) => each as number | undefined))).toEqual([
    [7, 3],
    [5, -1],
    [undefined, undefined],
  ]);
  expect(total).toMatchObject({ charged: 134, cost: 12, margin: 2 });
});

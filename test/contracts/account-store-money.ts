import { describe, expect, test } from "bun:test";
import type { AccountChange } from "../../src/domain/ports/account-store.ts";
import type { NewTask } from "../../src/domain/task/task.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  byHand,
  bySystem,
  byToken,
  endOne,
  type MakeStore,
  micros,
  NOW,
  newKey,
  type StoreUnderTest,
  taskId,
  tokenId,
  withStore,
} from "../helpers/store.ts";

const PREPAID = accountId(2);

const hold = (store: StoreUnderTest, number: number, amount: number, given: Partial<NewTask> = {}) =>
  admit(store, { number, accountId: PREPAID, held: micros(amount), ...given });
const isLow = async (admitted: ReturnType<typeof hold>) => {
  const result = await admitted;
  return result.kind === "admitted" ? result.isLow : result.kind;
};

/** What every `AccountStore` does with money, and its `TaskStore` with it. `make` gives an empty store each time. */
export function describeAccountMoney(name: string, make: MakeStore): void {
  /** With a prepaid account of 100 000. */
  const withPrepaid = (body: (store: StoreUnderTest) => Promise<void>, change: AccountChange = {}) =>
    withStore(make, async (store) => {
      await addAccount(store, { id: PREPAID, mode: "prepaid", credit: micros(100_000) });
      expect(await store.accounts.updateAccount(PREPAID, change, bySystem())).toMatchObject({ id: PREPAID });
      await body(store);
    });

  describe(name, () => {
    describeUpdates(withPrepaid);
    describeCreditLimit(withPrepaid);
    describeLowBalance(withPrepaid);
    describeRefunds(withPrepaid);
    describePages(withPrepaid);
  });
}

type WithPrepaid = (
  body: (store: StoreUnderTest) => Promise<void>,
  change?: AccountChange,
) => () => Promise<void>;

function describeUpdates(withPrepaid: WithPrepaid): void {
  test(
    "an update changes what it gives alone",
    withPrepaid(async ({ accounts }) => {
      const before = await accounts.account(PREPAID);
      const changes: AccountChange[] = [
        { creditLimit: micros(7) },
        { priceMultiplier: 1_250_000 },
        { lowBalance: micros(9) },
        { status: "suspended" },
        { mode: "unlimited" },
      ];
      let expected = { ...before };
      for (const change of changes) {
        expected = { ...expected, ...(change as Partial<typeof expected>) };
        expect(await accounts.updateAccount(PREPAID, change, bySystem())).toEqual(expected as never);
        expect(await accounts.account(PREPAID)).toEqual(expected as never);
      }
      expect(await accounts.updateAccount(PREPAID, { lowBalance: null }, bySystem())).toMatchObject({
        creditLimit: 7,
      });
      expect((await accounts.account(PREPAID))?.lowBalance).toBeUndefined();
      expect(await accounts.updateAccount(accountId(9), {}, bySystem())).toBe("not_found");
    }),
  );

  test(
    "a suspension and a multiplier show at once in the grant that was seen before",
    withPrepaid(async ({ accounts }) => {
      const key = newKey({ accountId: PREPAID });
      await accounts.createKey(key, undefined, bySystem());
      const grant = () => accounts.grantByHash(key.hash, NOW);
      expect(await grant()).toMatchObject({ accountStatus: "active", priceMultiplier: 1_000_000 });
      await accounts.updateAccount(PREPAID, { status: "suspended", priceMultiplier: 500_000 }, bySystem());
      expect(await grant()).toMatchObject({ accountStatus: "suspended", priceMultiplier: 500_000 });
      await accounts.updateAccount(PREPAID, { status: "active" }, bySystem());
      expect(await grant()).toMatchObject({ accountStatus: "active", priceMultiplier: 500_000 });
    }),
  );
}

function describeCreditLimit(withPrepaid: WithPrepaid): void {
  const limited = (body: (store: StoreUnderTest) => Promise<void>) =>
    withPrepaid(body, { creditLimit: micros(50_000) });

  test(
    "a prepaid account may hold its balance and its credit limit, to the last micro-unit",
    limited(async (store) => {
      const short = { kind: "insufficient_quota", limitedBy: "balance" } as const;
      expect(await hold(store, 1, 150_001)).toEqual({
        ...short,
        available: micros(150_000),
        needed: micros(150_001),
      });
      expect((await hold(store, 2, 150_000)).kind).toBe("admitted");
      expect(await hold(store, 3, 1)).toEqual({ ...short, available: micros(0), needed: micros(1) });
    }),
  );

  test(
    "a credit limit is not lowered below what is used of it, nor is the account made prepaid or debited then",
    limited(async ({ accounts, ...store }) => {
      const refused = async (change: AccountChange) => {
        const before = await accounts.account(PREPAID);
        expect(await accounts.updateAccount(PREPAID, { ...change, priceMultiplier: 5 }, bySystem())).toBe(
          "overdrawn",
        );
        expect(await accounts.account(PREPAID)).toEqual(before);
      };
      await hold({ accounts, ...store }, 1, 120_000);
      await refused({ creditLimit: micros(19_999) });
      expect(await accounts.credit(PREPAID, micros(-30_001), "fee", byHand(NOW))).toMatchObject({
        kind: "too_low",
        account: { balance: 100_000, held: 120_000, creditLimit: 50_000 },
      });
      expect(
        await accounts.updateAccount(PREPAID, { creditLimit: micros(20_000) }, bySystem()),
      ).toMatchObject({
        creditLimit: 20_000,
      });
      // Whatever it owes, an unlimited account has no limit to keep to.
      expect(
        await accounts.updateAccount(PREPAID, { mode: "unlimited", creditLimit: micros(0) }, bySystem()),
      ).toMatchObject({
        mode: "unlimited",
      });
      await refused({ mode: "prepaid" });
    }),
  );
}

function describeLowBalance(withPrepaid: WithPrepaid): void {
  const warned = (body: (store: StoreUnderTest) => Promise<void>) =>
    withPrepaid(body, { lowBalance: micros(50_000) });

  test(
    "a low balance is told with the create that goes below it, and with no other",
    warned(async (store) => {
      expect(await isLow(hold(store, 1, 50_000))).toBe(false);
      expect(await isLow(hold(store, 2, 0))).toBe(false);
      expect(await isLow(hold(store, 3, 1))).toBe(true);
      expect(await isLow(hold(store, 4, 1))).toBe(false);
      expect(await isLow(hold(store, 5, 60_000))).toBe("insufficient_quota");
      expect(await isLow(hold(store, 6, 1))).toBe(false);
    }),
  );

  test(
    "of many creates at once exactly one tells it",
    warned(async (store) => {
      const told = await Promise.all(Array.from({ length: 99 }, (_, i) => isLow(hold(store, i, 1_000))));
      expect(told.filter((low) => low === true)).toHaveLength(1);
      expect(told.indexOf(true)).toBe(50);
    }),
  );

  test(
    "a balance no account wants to be told of is not told of",
    withPrepaid(async (store) => {
      expect(await isLow(hold(store, 1, 100_000))).toBe(false);
    }),
  );

  test(
    "the accounts that are low are those in use with less than their level, whether or not that was told",
    warned(async (store) => {
      const low = async () =>
        (await store.accounts.lowAccounts()).map(({ id, lowBalance }) => [id, lowBalance]);
      await hold(store, 1, 50_000);
      expect(await low()).toEqual([]);
      await store.accounts.updateAccount(PREPAID, { lowBalance: micros(50_001) }, bySystem());
      await store.accounts.updateAccount(ACCOUNT, { lowBalance: micros(1) }, bySystem());
      expect(await low()).toEqual([
        [ACCOUNT, micros(1)],
        [PREPAID, micros(50_001)],
      ]);
      await store.accounts.updateAccount(ACCOUNT, { creditLimit: micros(1) }, bySystem());
      await store.accounts.updateAccount(PREPAID, { status: "suspended" }, bySystem());
      expect(await low()).toEqual([]);
    }),
  );

  const REPLENISHED = {
    "a credit": (store) => store.accounts.credit(PREPAID, micros(1), "top-up", byHand(NOW)),
    "a lower threshold": (store) =>
      store.accounts.updateAccount(PREPAID, { lowBalance: micros(49_999) }, bySystem()),
    "a higher credit limit": (store) =>
      store.accounts.updateAccount(PREPAID, { creditLimit: micros(1) }, bySystem()),
    "a threshold anew": async (store) => {
      await store.accounts.updateAccount(PREPAID, { lowBalance: null }, bySystem());
      await store.accounts.updateAccount(PREPAID, { lowBalance: micros(50_000) }, bySystem());
    },
  } satisfies Record<string, (store: StoreUnderTest) => Promise<unknown>>;
  test.each(Object.entries(REPLENISHED))(
    "after %s it is told again when it comes about again",
    (_, replenish) =>
      warned(async (store) => {
        await hold(store, 1, 50_000);
        expect(await isLow(hold(store, 2, 1))).toBe(true);
        await replenish(store);
        expect(await isLow(hold(store, 3, 5))).toBe(true);
        expect(await isLow(hold(store, 4, 5))).toBe(false);
      })(),
  );

  test(
    "what tasks give back has it told again only at twice the level, and the account is low until then",
    warned(async (store) => {
      const low = async () => (await store.accounts.lowAccounts()).map(({ id }) => id);
      await store.accounts.updateAccount(PREPAID, { lowBalance: micros(40_000) }, bySystem());
      await hold(store, 1, 21_000);
      expect(await isLow(hold(store, 2, 40_000))).toBe(true);
      await store.tasks.requestCancel(taskId(2), PREPAID, NOW);
      expect(await low()).toContain(PREPAID);
      expect(await isLow(hold(store, 3, 40_000))).toBe(false);
      await store.tasks.requestCancel(taskId(3), PREPAID, NOW);
      await store.tasks.requestCancel(taskId(1), PREPAID, NOW);
      expect(await low()).not.toContain(PREPAID);
      expect(await isLow(hold(store, 4, 61_000))).toBe(true);
    }),
  );

  test(
    "after a refund it is told again, and what is still too little is no reason to",
    warned(async (store) => {
      await hold(store, 1, 40_000);
      await endOne(store, "completed");
      expect(await isLow(hold(store, 2, 20_000))).toBe(true);
      await store.accounts.refund(taskId(1), micros(9_999), "apology", byHand(NOW));
      expect(await isLow(hold(store, 3, 1))).toBe(false);
      await store.accounts.credit(PREPAID, micros(2), "top-up", byHand(NOW));
      expect(await isLow(hold(store, 4, 1))).toBe(true);
    }),
  );
}

function describeRefunds(withPrepaid: WithPrepaid): void {
  const paid = (body: (store: StoreUnderTest) => Promise<void>) =>
    withPrepaid(async (store) => {
      await hold(store, 1, 40_000);
      await endOne(store, "completed");
      await body(store);
    });

  test(
    "a charge is given back whole unless less is asked for, once, by an entry that says who and why",
    paid(async (store) => {
      const refund = () => store.accounts.refund(taskId(1), undefined, "spoilt", byToken(NOW + 5));
      const usage = await store.usage.days(PREPAID, 0, 9);
      expect(await refund()).toEqual({
        kind: "refunded",
        amount: micros(40_000),
        account: expect.objectContaining({ id: PREPAID, balance: 100_000, held: 0 }),
      });
      expect(await refund()).toEqual({ kind: "already_refunded" });
      expect((await store.accounts.ledger(PREPAID)).at(-1)).toEqual({
        accountId: PREPAID,
        taskId: taskId(1),
        kind: "refund",
        balanceDelta: micros(40_000),
        heldDelta: micros(0),
        reason: "spoilt",
        actor: tokenId(1),
        at: NOW + 5,
      });
      expect(await store.accounts.account(PREPAID)).toMatchObject({ balance: 100_000 });
      expect(await store.usage.days(PREPAID, 0, 9)).toEqual(usage);
    }),
  );

  test(
    "a part is given back, never more than the charge, and no second part",
    paid(async (store) => {
      const refund = (amount: number) =>
        store.accounts.refund(taskId(1), micros(amount), "spoilt", byHand(NOW));
      expect(await refund(40_001)).toEqual({ kind: "too_much", charged: micros(40_000) });
      await expect(refund(0)).rejects.toThrow(RangeError);
      await expect(refund(-1)).rejects.toThrow(RangeError);
      expect(await refund(15_000)).toMatchObject({ kind: "refunded", amount: 15_000 });
      expect(await refund(1)).toEqual({ kind: "already_refunded" });
      expect(await store.accounts.account(PREPAID)).toMatchObject({ balance: 75_000 });
    }),
  );

  test(
    "refunds at the same time give back once",
    paid(async (store) => {
      const all = await Promise.all(
        [1, 2, 3].map((amount) => store.accounts.refund(taskId(1), micros(amount), "race", byHand(NOW))),
      );
      // Which of them does is not said.
      const refunded = all.flatMap((refund) => (refund.kind === "refunded" ? [refund.amount] : []));
      expect(refunded).toHaveLength(1);
      expect(all.filter(({ kind }) => kind === "already_refunded")).toHaveLength(2);
      expect(await store.accounts.account(PREPAID)).toMatchObject({ balance: 60_000 + refunded[0]! });
    }),
  );

  test(
    "what cost nothing is not given back",
    withPrepaid(async (store) => {
      const refund = (number: number) =>
        store.accounts.refund(taskId(number), undefined, "none", byHand(NOW)).then(({ kind }) => kind);
      await hold(store, 1, 10);
      expect(await refund(1)).toBe("not_charged");
      await endOne(store, "failed");
      await hold(store, 2, 10);
      await endOne(store, "cancelled");
      await hold(store, 3, 0);
      await endOne(store, "completed");
      expect([await refund(1), await refund(2), await refund(3), await refund(4)]).toEqual([
        "not_charged",
        "not_charged",
        "not_charged",
        "not_found",
      ]);
      expect(await store.accounts.account(PREPAID)).toMatchObject({ balance: 100_000 });
    }),
  );
}

function describePages(withPrepaid: WithPrepaid): void {
  test(
    "pages of a ledger go on from each other, newest first, each row with what the account had after it",
    withPrepaid(async (store) => {
      for (const amount of [5, -3, 10]) {
        await store.accounts.credit(PREPAID, micros(amount), `by ${amount}`, byHand(NOW));
        await store.accounts.credit(ACCOUNT, micros(1_000), "another's", byHand(NOW));
      }
      await hold(store, 1, 40_000);
      await endOne(store, "completed");
      const whole = await store.accounts.ledgerPage(PREPAID, { limit: 100 });
      expect(whole.map(({ number: _, balance: __, ...entry }) => entry)).toEqual(
        (await store.accounts.ledger(PREPAID)).toReversed(),
      );
      expect(whole.map(({ kind, balance }) => [kind, Number(balance)])).toEqual([
        ["capture", 60_012],
        ["hold", 100_012],
        ["credit", 100_012],
        ["adjustment", 100_002],
        ["credit", 100_005],
        ["credit", 100_000],
      ]);
      const pages = [];
      for (let before: number | undefined; ; ) {
        const page = await store.accounts.ledgerPage(PREPAID, { limit: 4, before });
        if (page.length === 0) break;
        pages.push(...page);
        before = page.at(-1)?.number;
      }
      expect(pages).toEqual(whole);
      expect(await store.accounts.ledgerPage(accountId(9), { limit: 4 })).toEqual([]);
    }),
  );
}

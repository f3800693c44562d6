import { describe, expect, test } from "bun:test";
import { type Quota, type QuotaReset, quotaPeriod } from "../../src/domain/money/quota.ts";
import type { Admission } from "../../src/domain/ports/task-store.ts";
import type { NewTask } from "../../src/domain/task/task.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  byHand,
  bySystem,
  endOne,
  keyId,
  type MakeStore,
  micros,
  NOW,
  newKey,
  newTask,
  type StoreUnderTest,
  taskId,
  withStore,
} from "../helpers/store.ts";

const DAY_MS = 86_400_000;
/** 1970-01-05, a Monday. */
const MONDAY = NOW + 4 * DAY_MS;
const KEY = keyId(1);
const PRICE = 40_000;

type Given = Partial<NewTask> & { number: number };

/** A create as the service makes it: with the quota that the key's policy has. */
async function create(store: StoreUnderTest, given: Given) {
  return store.tasks.admit(await admissionOf(store, given));
}
async function admissionOf(store: StoreUnderTest, given: Given): Promise<Admission> {
  const task = newTask(given);
  const quota = (await store.accounts.key(task.keyId))?.policy.quota;
  return { task, assets: [], quota: quota && atTime(quota, task.createdAt) };
}
const atTime = ({ limit, reset }: Quota, at: number) => ({ limit, period: quotaPeriod(reset, at) });
const kindOf = (store: StoreUnderTest, given: Given) => create(store, given).then(({ kind }) => kind);
const setQuota = (store: StoreUnderTest, reset: QuotaReset | undefined, limit = 100_000) =>
  store.accounts.changeKey(
    KEY,
    { policy: { quota: reset ? { limit: micros(limit), reset } : null } },
    bySystem(),
  );
async function useOf(store: StoreUnderTest, period: number, key = KEY) {
  const { used, reserved } = await store.accounts.keyQuota(key, period);
  return [Number(used), Number(reserved)];
}

/** A task that costs so much. */
async function costly(store: StoreUnderTest, number: number, cost: number) {
  const { quote } = newTask();
  const lines = quote.lines.map((line) => ({ ...line, unitMicros: micros(cost) }));
  const held = micros(cost);
  return create(store, { number, held, quote: { ...quote, lines, ceiling: held } });
}

/** What every `TaskStore` does about the quotas of keys. */
export function describeQuotas(make: MakeStore): void {
  /** With a key that may spend 100 000, which two tasks at their price go into. */
  const withQuota = (reset: QuotaReset | undefined, body: (store: StoreUnderTest) => Promise<void>) =>
    withStore(make, async (store) => {
      const policy = reset === undefined ? {} : { quota: { limit: micros(100_000), reset } };
      await store.accounts.createKey(newKey({ policy }), undefined, bySystem());
      await body(store);
    });

  test(
    "an unlimited account owes no more than its balance can count, so that every task of it settles",
    withQuota(undefined, async (store) => {
      const most = 8_000_000_000_000_000;
      expect((await costly(store, 1, most - 1)).kind).toBe("admitted");
      const refused = { kind: "insufficient_quota", limitedBy: "balance", available: micros(1) };
      expect(await costly(store, 2, 2)).toMatchObject(refused);
      await endOne(store, "completed", { cost: micros(most - 1) });
      expect(await costly(store, 3, 2)).toMatchObject(refused);
      expect((await costly(store, 4, 1)).kind).toBe("admitted");
      await endOne(store, "completed", { cost: micros(1) });
      expect(await store.accounts.account(ACCOUNT)).toMatchObject({ balance: -most, held: 0 });
      await store.accounts.credit(ACCOUNT, micros(5), "paid", bySystem());
      expect((await costly(store, 5, 5)).kind).toBe("admitted");
    }),
  );

  describe("a key's quota", () => {
    test(
      "is held, spent as charged and given back as released, and no create goes beyond it",
      withQuota("total", async (store) => {
        expect(await kindOf(store, { number: 1 })).toBe("admitted");
        expect(await kindOf(store, { number: 2 })).toBe("admitted");
        expect(await useOf(store, 0)).toEqual([0, 2 * PRICE]);
        expect(await create(store, { number: 3 })).toEqual({
          kind: "insufficient_quota",
          limitedBy: "key_quota",
          available: micros(20_000),
          needed: micros(PRICE),
        });
        await endOne(store, "completed");
        expect(await useOf(store, 0)).toEqual([PRICE, PRICE]);
        await endOne(store, "failed");
        expect(await useOf(store, 0)).toEqual([PRICE, 0]);
        expect(await kindOf(store, { number: 4, held: micros(60_000) })).toBe("admitted");
        await store.tasks.requestCancel(taskId(4), ACCOUNT, NOW);
        expect(await useOf(store, 0)).toEqual([PRICE, 0]);
        expect(await kindOf(store, { number: 5, held: micros(60_001) })).toBe("insufficient_quota");
        expect(await kindOf(store, { number: 6, held: micros(0) })).toBe("admitted");
        expect(await useOf(store, 0)).toEqual([PRICE, 0]);
      }),
    );

    test(
      "is kept to however many creates come at once, and a refused one changes nothing",
      withQuota("daily", async (store) => {
        const results = await Promise.all(
          Array.from({ length: 100 }, (_, i) => kindOf(store, { number: i + 1, held: micros(7_000) })),
        );
        expect(results.filter((kind) => kind === "admitted")).toHaveLength(14);
        expect(await useOf(store, 0)).toEqual([0, 98_000]);
        expect(await store.accounts.account(ACCOUNT)).toMatchObject({ held: 98_000 });
        expect(await store.tasks.counts()).toEqual({ queued: 14, underWay: 0 });
        expect(await store.accounts.ledger(ACCOUNT)).toHaveLength(14);
      }),
    );

    test(
      "is used up by what the key spent before, even by more than numbers count exactly",
      withQuota(undefined, async (store) => {
        const much = micros(8_000_000_000_000_000);
        const { quote } = newTask();
        const lines = quote.lines.map((line) => ({ ...line, unitMicros: much }));
        for (const number of [1, 2]) {
          await admit(store, { number, held: much, quote: { ...quote, lines, ceiling: much } });
          await endOne(store, "completed", { cost: much });
          await store.accounts.credit(ACCOUNT, much, "paid", bySystem());
        }
        await create(store, { number: 3 });
        await setQuota(store, "monthly");
        const spent = { used: 2n * BigInt(much), reserved: micros(PRICE) };
        expect(await store.accounts.keyQuota(KEY, 0)).toEqual(spent);
        expect(await store.accounts.keyQuotas([{ id: KEY, period: 0 }])).toEqual([spent]);
        expect(await create(store, { number: 4 })).toMatchObject({
          kind: "insufficient_quota",
          limitedBy: "key_quota",
        });
      }),
    );

    test(
      "is told of several keys as of each, whether they have spent of it, before it or nothing",
      withQuota("total", async (store) => {
        for (const number of [2, 3, 4]) {
          const quota = { limit: micros(100_000), reset: "total" } as const;
          await store.accounts.createKey(
            newKey({ number, name: `k${number}`, policy: number === 3 ? {} : { quota } }),
            undefined,
            bySystem(),
          );
        }
        await create(store, { number: 1 });
        await create(store, { number: 2, keyId: keyId(2) });
        await create(store, { number: 3, keyId: keyId(3) });
        await endOne(store, "completed");
        const asked = [4, 3, 9, 2, 1].map((number) => ({ id: keyId(number), period: 0 }));
        const each = await Promise.all(asked.map(({ id, period }) => store.accounts.keyQuota(id, period)));
        expect(await store.accounts.keyQuotas(asked)).toEqual(each);
        expect(await store.accounts.keyQuotas([])).toEqual([]);
        expect(each.map(({ used, reserved }) => [used, reserved])).toEqual(
          [
            [0, 0],
            [0, PRICE],
            [0, 0],
            [0, PRICE],
            [PRICE, 0],
          ].map((pair) => pair.map(micros)),
        );
      }),
    );

    test(
      "counts each of the first creates of a period once, which come together",
      withQuota("daily", async (store) => {
        const admissions = [1, 2, 3].map((number) => admissionOf(store, { number, held: micros(7_000) }));
        expect(await store.tasks.admitAll(await Promise.all(admissions))).toMatchObject({ kind: "accepted" });
        expect(await useOf(store, 0)).toEqual([0, 21_000]);
      }),
    );

    test(
      "begins anew with each period, and what was held in one is spent in that one",
      withQuota("daily", async (store) => {
        await create(store, { number: 1, held: micros(90_000) });
        const tomorrow = NOW + DAY_MS;
        expect(await kindOf(store, { number: 2, createdAt: NOW + 5 })).toBe("insufficient_quota");
        expect(await kindOf(store, { number: 3, createdAt: tomorrow })).toBe("admitted");
        expect([await useOf(store, 0), await useOf(store, 1)]).toEqual([
          [0, 90_000],
          [0, PRICE],
        ]);
        await endOne(store, "completed", { at: tomorrow });
        expect([await useOf(store, 0), await useOf(store, 1)]).toEqual([
          [PRICE, 0],
          [0, PRICE],
        ]);
        // A first create of a day finds nothing used on it, though something of the day before was charged on it.
        await endOne(store, "completed", { at: tomorrow + DAY_MS });
        expect(await kindOf(store, { number: 4, createdAt: tomorrow + DAY_MS, held: micros(100_000) })).toBe(
          "admitted",
        );
      }),
    );

    test(
      "is each key's own",
      withQuota("total", async (store) => {
        await store.accounts.createKey(
          newKey({ number: 2, policy: { quota: { limit: micros(PRICE), reset: "total" } } }),
          undefined,
          bySystem(),
        );
        await store.accounts.createKey(newKey({ number: 3 }), undefined, bySystem());
        expect(await kindOf(store, { number: 1, held: micros(100_000) })).toBe("admitted");
        expect(await kindOf(store, { number: 2, keyId: keyId(2) })).toBe("admitted");
        expect(await kindOf(store, { number: 3, keyId: keyId(3) })).toBe("admitted");
        expect(await kindOf(store, { number: 4, keyId: keyId(2), held: micros(1) })).toBe(
          "insufficient_quota",
        );
      }),
    );

    test(
      "and a balance that are both short: whichever leaves less is reported, the balance when they are equal",
      withQuota("total", async (store) => {
        const account = accountId(2);
        const given = { accountId: account, keyId: keyId(2), held: micros(60_000) };
        const quota = { limit: micros(50_000), reset: "total" } as const;
        await store.accounts.createKey(newKey({ number: 2, policy: { quota } }), undefined, bySystem());
        await addAccount(store, { id: account, mode: "prepaid", credit: micros(50_000) });
        const told = async (number: number) => {
          const result = await create(store, { number, ...given });
          return result.kind === "insufficient_quota" ? [result.limitedBy, Number(result.available)] : [];
        };
        expect(await told(1)).toEqual(["balance", 50_000]);
        await store.accounts.credit(account, micros(1), "more", byHand(NOW));
        expect(await told(2)).toEqual(["key_quota", 50_000]);
        await store.accounts.credit(account, micros(-2), "less", byHand(NOW));
        expect(await told(3)).toEqual(["balance", 49_999]);
        await store.accounts.updateAccount(account, { mode: "unlimited" }, bySystem());
        expect(await told(4)).toEqual(["key_quota", 50_000]);
      }),
    );

    test(
      "set below what was spent leaves less than nothing, and raised leaves the difference",
      withQuota("total", async (store) => {
        await create(store, { number: 1 });
        await setQuota(store, "total", 30_000);
        expect(await create(store, { number: 2, held: micros(1) })).toMatchObject({ available: -10_000 });
        await setQuota(store, "total", 40_001);
        expect(await kindOf(store, { number: 3, held: micros(1) })).toBe("admitted");
        expect(await kindOf(store, { number: 4, held: micros(1) })).toBe("insufficient_quota");
      }),
    );

    test(
      "is not given back by a refund",
      withQuota("total", async (store) => {
        await create(store, { number: 1 });
        await endOne(store, "completed");
        await store.accounts.refund(taskId(1), undefined, "spoilt", byHand(NOW));
        expect(await useOf(store, 0)).toEqual([PRICE, 0]);
      }),
    );
  });

  describe("a quota given in the middle of a period", () => {
    test(
      "counts what the key was charged in it and what its live tasks hold, which are counted like any other from then on",
      withQuota(undefined, async (store) => {
        const at = MONDAY + DAY_MS;
        // On the Sunday before, and by another key: not counted.
        await create(store, { number: 1, createdAt: MONDAY - DAY_MS });
        await endOne(store, "completed", { at: MONDAY - DAY_MS });
        await admit(store, { number: 2, keyId: keyId(2), createdAt: at });
        await endOne(store, "completed", { at });
        // Counted.
        await create(store, { number: 3, createdAt: MONDAY });
        await endOne(store, "completed", { at: MONDAY });
        await create(store, { number: 4, createdAt: MONDAY, held: micros(30_000) });
        await setQuota(store, "weekly");
        const week = quotaPeriod("weekly", at);
        expect(await useOf(store, week)).toEqual([PRICE, 30_000]);
        expect(await create(store, { number: 5, createdAt: at })).toMatchObject({ available: 30_000 });
        expect(await useOf(store, week)).toEqual([PRICE, 30_000]);
        expect(await kindOf(store, { number: 6, createdAt: at, held: micros(30_000) })).toBe("admitted");
        expect(await useOf(store, week)).toEqual([PRICE, 60_000]);
        await endOne(store, "completed", { at });
        expect(await useOf(store, week)).toEqual([70_000, 30_000]);
        await store.tasks.requestCancel(taskId(6), ACCOUNT, at);
        expect(await useOf(store, week)).toEqual([70_000, 0]);
      }),
    );

    test(
      "for all time counts all the key was ever charged",
      withQuota(undefined, async (store) => {
        for (const number of [1, 2]) {
          await create(store, { number, createdAt: NOW + number * 40 * DAY_MS });
          await endOne(store, "completed", { at: NOW + number * 40 * DAY_MS });
        }
        await setQuota(store, "total");
        expect(await useOf(store, 0)).toEqual([2 * PRICE, 0]);
        expect(await create(store, { number: 3, createdAt: NOW + 99 * DAY_MS })).toMatchObject({
          available: 20_000,
        });
      }),
    );
  });

  describe("a quota that begins anew at other times than before", () => {
    test(
      "counts its own period from the start, though both may begin on the same day, and nothing twice",
      withQuota("daily", async (store) => {
        for (const [i, createdAt] of [MONDAY, MONDAY + DAY_MS].entries()) {
          await create(store, { number: i + 1, createdAt });
          await endOne(store, "completed", { at: createdAt });
        }
        await create(store, { number: 3, createdAt: MONDAY + 2 * DAY_MS, held: micros(10_000) });
        await setQuota(store, "weekly");
        const week = quotaPeriod("weekly", MONDAY);
        expect(week).toBe(quotaPeriod("daily", MONDAY));
        const at = MONDAY + 2 * DAY_MS;
        expect(await kindOf(store, { number: 4, createdAt: at, held: micros(10_001) })).toBe(
          "insufficient_quota",
        );
        expect(await kindOf(store, { number: 5, createdAt: at, held: micros(10_000) })).toBe("admitted");
        expect(await useOf(store, week)).toEqual([2 * PRICE, 20_000]);
        await endOne(store, "completed", { at });
        await endOne(store, "failed", { at });
        expect(await useOf(store, week)).toEqual([90_000, 0]);
      }),
    );

    test(
      "lifted and given again counts what was charged without it, once; tasks under way at both moments end as ever",
      withQuota("total", async (store) => {
        await create(store, { number: 1 });
        await setQuota(store, undefined);
        await endOne(store, "completed");
        await create(store, { number: 2 });
        await setQuota(store, "total");
        expect(await useOf(store, 0)).toEqual([PRICE, PRICE]);
        await endOne(store, "completed");
        expect(await useOf(store, 0)).toEqual([2 * PRICE, 0]);
        await create(store, { number: 3, held: micros(20_000) });
        expect(await useOf(store, 0)).toEqual([2 * PRICE, 20_000]);
        await endOne(store, "completed");
        expect(await useOf(store, 0)).toEqual([100_000, 0]);
      }),
    );
  });

  test(
    "a create that has not seen yet how a quota was changed keeps to the new one",
    withQuota("daily", async (store) => {
      await create(store, { number: 1, createdAt: MONDAY });
      await endOne(store, "completed", { at: MONDAY });
      const at = MONDAY + DAY_MS;
      const stale = { limit: micros(1_000_000), period: quotaPeriod("daily", at) };
      const late = (number: number, held: number) =>
        store.tasks.admit({
          task: newTask({ number, createdAt: at, held: micros(held) }),
          assets: [],
          quota: stale,
        });
      await setQuota(store, "weekly", 50_000);
      expect(await late(2, 10_001)).toMatchObject({ limitedBy: "key_quota", available: 10_000 });
      expect((await late(3, 10_000)).kind).toBe("admitted");
      expect(await useOf(store, quotaPeriod("weekly", at))).toEqual([PRICE, 10_000]);
      await setQuota(store, undefined);
      expect((await late(4, 900_000)).kind).toBe("admitted");
      expect((await late(5, 900_000)).kind).toBe("admitted");
    }),
  );
}

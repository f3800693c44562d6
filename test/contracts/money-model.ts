import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { KeyId } from "../../src/domain/ids.ts";
import { quotaPeriod } from "../../src/domain/money/quota.ts";
import type { AuditReport } from "../../src/domain/ports/audit.ts";
import {
  accountId,
  addAccount,
  byHand,
  bySystem,
  endOne,
  keyId,
  micros,
  NOW,
  newKey,
  newTask,
  type StoreUnderTest,
  taskId,
} from "../helpers/store.ts";
import { type BookedTask, Books } from "./money-books.ts";

const DAY_MS = 86_400_000;
const PREPAID = accountId(11);
const UNLIMITED = accountId(12);
const ACCOUNTS = [PREPAID, UNLIMITED] as const;
/** Two keys of the prepaid account, one of the other. */
const KEYS = [keyId(1), keyId(2), keyId(3)] as const;
const ownerOf = (key: KeyId) => (key === KEYS[2] ? UNLIMITED : PREPAID);

type Command = fc.AsyncCommand<Books, StoreUnderTest>;
const now = (books: Books) => NOW + books.day * DAY_MS;

/** A command that may always be given; `run` does it to both and compares what they say. */
function command(name: string, run: (books: Books, store: StoreUnderTest) => Promise<void>): Command {
  return {
    check: () => true,
    toString: () => name,
    async run(books, store) {
      await run(books, store);
      await compare(books, store);
    },
  };
}

async function compare(books: Books, store: StoreUnderTest): Promise<void> {
  for (const account of ACCOUNTS) {
    const { balance, held } = (await store.accounts.account(account))!;
    expect([Number(balance), Number(held)]).toEqual([books.balance(account), books.held(account)]);
  }
  for (const key of KEYS) {
    const period = books.period(key);
    if (period === undefined) continue;
    const { used, reserved } = await store.accounts.keyQuota(key, period);
    expect({ key, used: Number(used), reserved: Number(reserved) }).toEqual({
      key,
      ...books.use(key, period),
    });
  }
}

function create(key: KeyId, price: number, n: number): Command {
  return command(`create ${n} × ${price} by ${key.at(-1)}`, async (books, store) => {
    const [number, account, held] = [books.tasks.length + 1, ownerOf(key), price * n];
    const line = { sku: "image", unit: "output", unitMicros: micros(price), perOutput: 1 } as const;
    const task = newTask({
      number,
      accountId: account,
      keyId: key,
      held: micros(held),
      quote: { priceVersion: "1", outputs: n, lines: [line], ceiling: micros(held) },
      createdAt: now(books),
    });
    const quota = books.quotas.get(key);
    const period = books.period(key) ?? 0;
    const { used, reserved } = books.use(key, period);
    const left = quota && held > 0 ? quota.limit - used - reserved : Number.POSITIVE_INFINITY;
    const isRefused = held > 0 && (left < held || books.available(account) < held);

    const limits = quota && { limit: micros(quota.limit), period };
    const result = await store.tasks.admit({ task, assets: [], quota: limits });
    if (isRefused) {
      const available = Math.min(books.available(account), left);
      const limitedBy = books.available(account) <= left ? "balance" : "key_quota";
      expect(result).toEqual({
        kind: "insufficient_quota",
        limitedBy,
        available: micros(available),
        needed: micros(held),
      });
      return;
    }
    expect(result).toEqual({ kind: "admitted", isLow: false });
    const isCounted = quota !== undefined && held > 0;
    if (isCounted) books.count(key, period);
    const ends = { isLive: true, charged: 0, endedDay: 0, refunded: 0 };
    books.tasks.push({
      number,
      account,
      key,
      held,
      createdDay: books.day,
      period: isCounted ? period : undefined,
      ...ends,
    });
  });
}

function end(status: "completed" | "failed" | "cancelled", outputs: number): Command {
  return command(`${status} with ${outputs}`, async (books, store) => {
    if (books.live().length === 0) return;
    const { task: leased } = await endOne(store, status, { at: now(books), outputs });
    const task = books.tasks.find(({ number }) => taskId(number) === leased.id)!;
    const { outputs: asked } = leased.quote;
    close(books, task, status === "completed" ? (task.held / asked) * Math.min(outputs, asked) : 0);
  });
}

function close(books: Books, task: BookedTask, charged: number): void {
  Object.assign(task, { isLive: false, charged, endedDay: books.day });
}

function cancel(pick: number): Command {
  return command(`cancel ${pick}`, async (books, store) => {
    const task = books.tasks[pick % Math.max(1, books.tasks.length)];
    if (task === undefined) return;
    const result = await store.tasks.requestCancel(taskId(task.number), task.account, now(books));
    const isKnown = task.fate !== "summed";
    expect(result).toBe(task.isLive ? "cancelled" : isKnown ? "already_final" : "not_found");
    if (task.isLive) close(books, task, 0);
  });
}

function refund(pick: number, amount: number | undefined): Command {
  return command(`refund ${amount} of ${pick}`, async (books, store) => {
    const task = books.tasks[pick % Math.max(1, books.tasks.length)];
    if (task === undefined) return;
    const given = amount === undefined ? undefined : micros(amount);
    const { kind } = await store.accounts.refund(taskId(task.number), given, "model", byHand(now(books)));
    if (task.fate === "summed") expect(kind).toBe("not_found");
    else if (task.charged === 0) expect(kind).toBe("not_charged");
    else if (task.refunded > 0) expect(kind).toBe("already_refunded");
    else if ((amount ?? 0) > task.charged) expect(kind).toBe("too_much");
    else {
      expect(kind).toBe("refunded");
      task.refunded = amount ?? task.charged;
    }
  });
}

/** Removes an ended task, and sums up what the books say of all that may become sums. */
function remove(pick: number): Command {
  return command(`remove ${pick}`, async (books, store) => {
    const task = books.tasks[pick % Math.max(1, books.tasks.length)];
    if (task === undefined) return;
    const { kind } = await store.retention.remove(taskId(task.number), NOW);
    if (kind === "removed") task.fate ??= "removed";
    expect(kind).toBe(task.isLive ? "live" : task.fate === "summed" ? "not_found" : "removed");
    const { due } = await store.retention.removed({ removedBefore: Number.MAX_SAFE_INTEGER, limit: 999 });
    await store.retention.sumUp(due);
    for (const each of books.tasks) if (due.includes(taskId(each.number))) each.fate = "summed";
  });
}

function credit(amount: number): Command {
  return command(`credit ${amount}`, async (books, store) => {
    const { kind } = await store.accounts.credit(PREPAID, micros(amount), "model", byHand(now(books)));
    const isRefused = amount < 0 && books.available(PREPAID) + amount < 0;
    expect(kind).toBe(isRefused ? "too_low" : "credited");
    if (!isRefused) books.accounts.get(PREPAID)!.credited += amount;
  });
}

function limitCredit(creditLimit: number): Command {
  return command(`credit limit ${creditLimit}`, async (books, store) => {
    const account = books.accounts.get(PREPAID)!;
    const isRefused = books.available(PREPAID) - account.creditLimit + creditLimit < 0;
    const result = await store.accounts.updateAccount(
      PREPAID,
      { creditLimit: micros(creditLimit) },
      bySystem(),
    );
    expect(result === "overdrawn").toBe(isRefused);
    if (!isRefused) account.creditLimit = creditLimit;
  });
}

function setQuota(key: KeyId, quota: { limit: number; isDaily: boolean } | undefined): Command {
  return command(`quota ${JSON.stringify(quota)} for ${key.at(-1)}`, async (books, store) => {
    const reset = quota?.isDaily ? ("daily" as const) : ("total" as const);
    const given = quota === undefined ? null : { limit: micros(quota.limit), reset };
    await store.accounts.changeKey(key, { policy: { quota: given } }, bySystem());
    books.setQuota(key, quota);
    if (quota?.isDaily) expect(quotaPeriod("daily", now(books))).toBe(books.day);
  });
}

const nextDay = command("next day", async (books) => {
  books.day += 1;
});

const anyKey = fc.constantFrom(...KEYS);
const anyPick = fc.nat({ max: 20 });
const anyQuota = fc.record({ limit: fc.integer({ min: 0, max: 200_000 }), isDaily: fc.boolean() });
const COMMANDS = [
  fc
    .tuple(anyKey, fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 1, max: 3 }))
    .map((of) => create(...of)),
  fc.tuple(anyKey, fc.constantFrom(10_000, 20_000), fc.constant(2)).map((of) => create(...of)),
  fc.integer({ min: 1, max: 3 }).map((outputs) => end("completed", outputs)),
  fc.constantFrom("failed" as const, "cancelled" as const).map((status) => end(status, 0)),
  anyPick.map(cancel),
  anyPick.map(remove),
  fc
    .tuple(anyPick, fc.option(fc.integer({ min: 1, max: 40_000 }), { nil: undefined }))
    .map((of) => refund(...of)),
  fc.integer({ min: -60_000, max: 60_000 }).map(credit),
  fc.integer({ min: 0, max: 50_000 }).map(limitCredit),
  fc.tuple(anyKey, fc.option(anyQuota, { nil: undefined })).map((of) => setQuota(...of)),
  fc.constant(nextDay),
];

/** A store without rows, and what checks and removes it. */
interface Modelled {
  readonly store: StoreUnderTest;
  audit(): Promise<AuditReport>;
  remove(): void;
}

/** Drives a store and reference books alike. `make` gives an empty store each time, and an audit of it. */
export function describeMoneyModel(
  name: string,
  make: () => Modelled | Promise<Modelled>,
  numRuns = 30,
): void {
  describe(name, () => {
    test("accounts, holds, quotas and refunds come to what the simplest books come to, whatever is done", async () => {
      let summed = 0;
      await fc.assert(
        fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 60, size: "max" }), async (commands) => {
          const { store, audit, remove } = await make();
          try {
            const state = await open(store);
            await fc.asyncModelRun(() => state, commands);
            summed += state.model.tasks.filter(({ fate }) => fate === "summed").length;
            expect((await audit()).differences).toEqual([]);
          } finally {
            await store.stop();
            remove();
          }
        }),
        { numRuns, seed: 11, interruptAfterTimeLimit: 200_000, markInterruptAsFailure: true },
      );
      expect(summed).toBeGreaterThan(numRuns / 3);
    }, 240_000);
  });
}

async function open(store: StoreUnderTest): Promise<{ model: Books; real: StoreUnderTest }> {
  const books = new Books();
  await addAccount(store, { id: PREPAID, mode: "prepaid", credit: micros(100_000) });
  await addAccount(store, { id: UNLIMITED });
  books.accounts.set(PREPAID, { isPrepaid: true, credited: 100_000, creditLimit: 0 });
  books.accounts.set(UNLIMITED, { isPrepaid: false, credited: 0, creditLimit: 0 });
  for (const [i, id] of KEYS.entries()) {
    await store.accounts.createKey(
      newKey({ number: i + 1, id, accountId: ownerOf(id) }),
      undefined,
      bySystem(),
    );
  }
  return { model: books, real: store };
}

import { afterEach, describe, expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { KeyPolicy } from "../../src/domain/access/key-policy.ts";
import { dayOf, monthStartOf } from "../../src/domain/day.ts";
import { AppError } from "../../src/domain/errors.ts";
import { ONE } from "../../src/domain/money/multiplier.ts";
import { quotaPeriod } from "../../src/domain/money/quota.ts";
import type { RateWindow } from "../../src/domain/ports/rate-limiter.ts";
import { succeeded } from "../../src/domain/task/transition.ts";
import { type ReadAccountDeps, readAccount } from "../../src/service/read-account.ts";
import { openEmptyStore } from "../helpers/open-store.ts";

import {
  ACCOUNT,
  addAccount,
  attemptId,
  bySystem,
  callbackId,
  claimOne,
  keyId,
  micros,
  newAsset,
  newIntent,
  newTask,
  taskId,
} from "../helpers/store.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Noon of the second of a month, UTC. */
const NOW = Date.parse("2026-03-02T12:00:00Z");
const DAY_MS = 86_400_000;

interface Given {
  readonly policy?: KeyPolicy;
  readonly window?: RateWindow;
  readonly credit?: number;
  readonly isAccepting?: boolean;
}

async function setup({ policy = {}, window, credit, isAccepting = true }: Given = {}) {
  const store = openEmptyStore();
  stops.push(store.stop);
  const mode = credit === undefined ? "unlimited" : "prepaid";
  await addAccount(store, { id: ACCOUNT, name: "web", mode, credit: micros(credit ?? 0) });
  const key = {
    id: keyId(1),
    accountId: ACCOUNT,
    name: "key",
    hash: "h".repeat(64),
    display: "sk-svc-abcd…wxyz",
    policy,
    signsCallbacks: false,
    createdAt: NOW,
  };
  await store.accounts.createKey(key, undefined, bySystem());
  const deps: ReadAccountDeps = {
    accounts: store.accounts,
    tasks: store.tasks,
    usage: store.usage,
    rateLimiter: {
      peek: async () => {
        if (window === undefined) throw new Error("A key without a limit is not looked up.");
        return window;
      },
    },
    clock: { now: () => NOW },
    isAccepting: () => isAccepting,
    catalog: createCatalog(),
    aliases: {},
  };
  const principal = { accountId: ACCOUNT, keyId: key.id, keyName: key.name, policy, priceMultiplier: ONE };
  const admit = (number: number, fields: Parameters<typeof newTask>[0] = {}) =>
    store.tasks.admit({
      task: newTask({ number, createdAt: NOW, ...fields }),
      assets: [],
      quota: policy.quota && { limit: policy.quota.limit, period: quotaPeriod(policy.quota.reset, NOW) },
    });
  return {
    store,
    read: (changed: KeyPolicy = policy) => readAccount(deps, { ...principal, policy: changed }),
    /** A task of 0.04 that is delivered. */
    async complete(number: number) {
      await admit(number);
      const lease = await claimOne(store, { now: NOW });
      await store.tasks.begin(lease, newIntent({ id: attemptId(number), at: NOW, deadlineAt: NOW + 1 }));
      const asset = newAsset({ number, taskId: taskId(number) });
      const end = succeeded(lease.task, NOW, attemptId(number), [asset], undefined, callbackId(number));
      expect(await store.tasks.apply(lease, end)).toBe("applied");
    },
    readAs: (id: typeof key.id) => readAccount(deps, { ...principal, keyId: id }),
    admit,
  };
}

describe("the status of an account", () => {
  test("without limits and tasks has none", async () => {
    const { read } = await setup();
    expect(await read()).toMatchObject({
      account: { id: ACCOUNT, name: "web", mode: "unlimited" },
      key: { id: keyId(1), name: "key" },
      keyCharged: 0,
      limits: [],
      available: undefined,
      tasks: { pending: 0, processing: 0 },
      blockedBy: [],
      at: NOW,
    });
  });

  test("keeps what is held apart from what is there, and all keys' tasks apart from one's own limit", async () => {
    const { read, admit } = await setup({ credit: 100_000, policy: { concurrency: 3 } });
    await admit(1);
    await admit(2, { keyId: keyId(2) });
    expect(await read()).toMatchObject({
      account: { balance: 100_000, held: 80_000 },
      available: 20_000,
      tasks: { pending: 2, processing: 0 },
      limits: [{ metric: "concurrent_tasks", limit: 3, remaining: 2 }],
    });
  });

  test("counts from midnight and from the first of the month, UTC, what ended then", async () => {
    const { read, admit, store } = await setup();
    const first = monthStartOf(NOW) * DAY_MS;
    const ends = [first - 1, first, dayOf(NOW) * DAY_MS - 1, dayOf(NOW) * DAY_MS, NOW];
    for (const [i, at] of ends.entries()) {
      await admit(i + 1);
      expect(await store.tasks.requestCancel(taskId(i + 1), ACCOUNT, at)).toBe("cancelled");
    }
    const { usage } = await read();
    expect([usage.today.cancelled, usage.month.cancelled]).toEqual([2, 4]);
  });

  test("has the key's requests of this minute, as its limiter counts them", async () => {
    const window = { limit: 60, remaining: 59, resetsAt: NOW + 1 };
    const { read } = await setup({ policy: { requestsPerMinute: 60 }, window });
    expect((await read()).limits).toEqual([{ metric: "requests", windowSec: 60, ...window }]);
  });

  test("is refused to a key that is no longer there", async () => {
    const { readAs } = await setup();
    const error = await readAs(keyId(9)).catch((thrown: unknown) => thrown);
    expect(error instanceof AppError && error.code).toBe("invalid_api_key");
  });
});

describe("the quota of a key", () => {
  const monthly = { limit: micros(100_000), reset: "monthly" } as const;

  test("is apart from the balance: what is used, reserved and left of it, and when it begins anew", async () => {
    const { read, admit, complete } = await setup({ policy: { quota: monthly } });
    await complete(1);
    await admit(2);
    const status = await read();
    expect(status.quota).toEqual({
      ...monthly,
      used: micros(40_000),
      reserved: micros(40_000),
      remaining: micros(20_000),
      resetsAt: Date.parse("2026-04-01T00:00:00Z"),
    });
    expect([status.available, status.blockedBy]).toEqual([undefined, []]);
  });

  test("that was lowered below what was spent has nothing left, not less", async () => {
    const { read, admit, store } = await setup({ policy: { quota: monthly } });
    await admit(1);
    await admit(2);
    const lowered = { limit: micros(50_000), reset: "monthly" } as const;
    await store.accounts.changeKey(keyId(1), { policy: { quota: lowered } }, bySystem());
    const { quota, blockedBy } = await read({ quota: lowered });
    expect(quota).toMatchObject({ limit: 50_000, used: 0, reserved: 80_000, remaining: 0 });
    expect(blockedBy).toEqual(["key_quota"]);
  });

  test("that never begins anew says no time for it", async () => {
    const { read } = await setup({ policy: { quota: { limit: micros(1), reset: "total" } } });
    expect(await read()).toMatchObject({ quota: { remaining: 1, resetsAt: undefined } });
  });

  test("counts from its period's first day what the key was charged before it had one", async () => {
    const { read, complete, store } = await setup();
    await complete(1);
    await store.accounts.changeKey(keyId(1), { policy: { quota: monthly } }, bySystem());
    expect((await read({ quota: monthly })).quota).toMatchObject({ used: 40_000, remaining: 60_000 });
  });
});

describe("a create is blocked", () => {
  const spent = { limit: 1, remaining: 0, resetsAt: NOW + 1 };
  test.each<[string, Given, string[]]>([
    ["by nothing while a micro-unit is left", { credit: 1 }, []],
    ["at zero balance", { credit: 0 }, ["balance"]],
    ["while the service drains", { isAccepting: false }, ["draining"]],
    ["by a quota of nothing", { policy: { quota: { limit: micros(0), reset: "total" } } }, ["key_quota"]],
    [
      "by no quota while a micro-unit of it is left",
      { policy: { quota: { limit: micros(1), reset: "daily" } } },
      [],
    ],
    ["for a key no model is there for", { policy: { models: ["none-*"] } }, ["models"]],
    ["by the minute's last request", { policy: { requestsPerMinute: 1 }, window: spent }, ["rate_limit"]],
    [
      "by several things at once",
      { credit: 0, isAccepting: false, policy: { requestsPerMinute: 1 }, window: spent },
      ["draining", "balance", "rate_limit"],
    ],
  ])("%s", async (_, given, blockedBy) => {
    const { read } = await setup(given);
    expect((await read()).blockedBy as string[]).toEqual(blockedBy);
  });

  test("by the key's last live task, until one ends", async () => {
    const { read, admit, store } = await setup({ policy: { concurrency: 1 } });
    await admit(1);
    expect((await read()).blockedBy).toEqual(["concurrency"]);
    await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
    expect((await read()).blockedBy).toEqual([]);
  });

  test("by an account that holds all it has", async () => {
    const { read, admit } = await setup({ credit: 40_000 });
    await admit(1);
    expect(await read()).toMatchObject({ available: 0, blockedBy: ["balance"] });
  });
});

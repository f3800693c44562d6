import { expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { ONE } from "../../src/domain/money/multiplier.ts";
import { quotaPeriod } from "../../src/domain/money/quota.ts";
import { succeeded } from "../../src/domain/task/transition.ts";
import { accountEndpoints } from "../../src/http/account/routes.ts";
import type { KeyedExchange } from "../../src/http/exchange.ts";
import type { Store } from "../../src/store/open.ts";
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
} from "../helpers/store.ts";

const TODAY = Date.parse("2026-03-02T12:00:00Z");
const YESTERDAY = TODAY - 86_400_000;

const accountEndpointsOf = (store: Store) =>
  accountEndpoints({
    ...store,
    catalog: createCatalog(),
    aliases: {},
    audits: store.usage,
    rateLimiter: { peek: () => Promise.reject(new Error("There is no such limit.")) },
    clock: { now: () => TODAY },
    isAccepting: () => true,
  });

test("what a quota says is used is of its period alone, though the key was charged before", async () => {
  const store = openEmptyStore();
  const quota = { limit: micros(100_000), reset: "daily" } as const;
  const policy = { quota };
  const key = { id: keyId(1), accountId: ACCOUNT, name: "key", hash: "h".repeat(64), display: "sk-svc-a…z" };
  await addAccount(store, { id: ACCOUNT });
  await store.accounts.createKey(
    { ...key, policy, signsCallbacks: false, createdAt: YESTERDAY },
    undefined,
    bySystem(),
  );
  const period = quotaPeriod("daily", YESTERDAY);
  const task = newTask({ createdAt: YESTERDAY });
  await store.tasks.admit({ task, assets: [], quota: { limit: quota.limit, period } });
  const lease = await claimOne(store, { now: YESTERDAY });
  await store.tasks.begin(lease, newIntent({ at: YESTERDAY, deadlineAt: TODAY }));
  const end = succeeded(lease.task, YESTERDAY, attemptId(1), [newAsset()], undefined, callbackId(1));
  expect(await store.tasks.apply(lease, end)).toBe("applied");

  const [endpoint] = accountEndpointsOf(store);
  if (endpoint?.access !== "api_key") throw new Error("The status is for API keys.");
  const principal = { accountId: ACCOUNT, keyId: key.id, keyName: "key", policy, priceMultiplier: ONE };
  // The handler reads nothing else of an exchange.
  const { body } = await endpoint.handle({ principal } as KeyedExchange);
  expect(JSON.parse(String(body)).data.key.quota).toEqual({
    limit: "0.100000",
    used: "0.000000",
    reserved: "0.000000",
    remaining: "0.100000",
    reset: "daily",
    resets_at: Date.parse("2026-03-03T00:00:00Z") / 1000,
  });

  const usage = accountEndpointsOf(store).find(({ path }) => path === "/v1/usage");
  if (usage?.access !== "api_key") throw new Error("Usage is for API keys.");
  const ask = async (query: string) => {
    const exchange = { principal, query: () => new URLSearchParams(query) } as KeyedExchange;
    return JSON.parse(String((await usage.handle(exchange)).body)).data;
  };
  const sum = { completed: 1, failed: 0, cancelled: 0, outputs: 1, charged: "0.040000" };
  expect(await ask("by=day,key")).toEqual({
    ...{ by: "day,key", since: "2026-01-31", until: "2026-03-02", currency: "USD", total: sum },
    rows: [{ day: "2026-03-01", key_id: key.id, key: "key", ...sum }],
  });
  expect((await ask("since=2026-03-02")).rows).toEqual([]);
  for (const query of ["by=account", "by=provider", "by=day,day", "by=day,", "since=2026-02-30", "account=x"])
    await expect(ask(query)).rejects.toMatchObject({ code: "invalid_request" });
  await store.stop();
});

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { OPEN_POLICY } from "../../../src/domain/access/key-policy.ts";
import type { AccountId, ModelId } from "../../../src/domain/ids.ts";
import { openStore, type Store } from "../../../src/store/open.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  byHand,
  bySystem,
  claimOne,
  claimQuery,
  countingTokens,
  endOne,
  keyId,
  micros,
  NOW,
  newKey,
  newTask,
  taskId,
  tokenId,
} from "../../helpers/store.ts";

/** A second connection, as another process would have. */
let other: Database;
let store: Store;
let file: ReturnType<typeof migratedFile>;

beforeEach(async () => {
  file = migratedFile();
  store = openStore({ path: file.path, ids: countingTokens() });
  other = new Database(file.path);
  other.run("pragma foreign_keys = on");
  await addAccount(store, { id: ACCOUNT });
});
afterEach(async () => {
  other.close();
  await store.stop();
  file.remove();
});

describe("rules the database itself keeps", () => {
  test("ledger entries are neither changed nor removed", async () => {
    await admit(store);
    expect(() => other.run("update ledger_entry set held_delta_micros = 0")).toThrow("never changed");
    expect(() => other.run("delete from ledger_entry")).toThrow("never removed");
  });

  test("a finished task never changes", async () => {
    await admit(store);
    await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
    for (const change of ["status = 'completed'", "request = '{}'", "results = '[]', error = '{}'"])
      expect(() => other.run(`update task set ${change}`)).toThrow("never changes");
  });

  test("what the books add up of a task stays when it is removed", async () => {
    await admit(store);
    await endOne(store, "completed");
    for (const money of ["held_micros = 0", "charged_micros = 0", "charge = null", "results = null"])
      expect(() => other.run(`update task set status = 'removed', ${money}`)).toThrow("never changes");
    await store.retention.remove(taskId(1), NOW);
    expect(() => other.run("update task set status = 'completed'")).toThrow("never changes");
  });

  test("a task has one ledger entry of a kind", async () => {
    await admit(store);
    const again = `insert into ledger_entry (account_number, task_number, kind, balance_delta_micros, held_delta_micros, reason_label, actor_label, at)
       select account_number, task_number, kind, 0, 0, reason_label, actor_label, 0 from ledger_entry`;
    expect(() => other.run(again)).toThrow("UNIQUE");
  });

  test("a prepaid account holds no more than it has, and none holds less than nothing", async () => {
    await store.accounts.credit(ACCOUNT, micros(10), "test", byHand(NOW));
    other.run("update account set mode = 'prepaid'");
    expect(() => other.run("update account set held_micros = 11")).toThrow("account_prepaid");
    other.run("update account set credit_limit_micros = 5, held_micros = 15");
    expect(() => other.run("update account set held_micros = 16")).toThrow("account_prepaid");
    expect(() => other.run("update account set credit_limit_micros = 4")).toThrow("account_prepaid");
    expect(() => other.run("update account set held_micros = -1")).toThrow("account_held");
  });

  test("a key has neither used nor reserved less than nothing of its quota", async () => {
    await store.accounts.createKey(newKey(), undefined, bySystem());
    other.run("insert into key_quota values (?, 0, 1, 1)", [keyId(1)]);
    expect(() => other.run("update key_quota set used_micros = -1")).toThrow("key_quota_used");
    expect(() => other.run("update key_quota set reserved_micros = -1")).toThrow("key_quota_used");
  });

  test("a live task is in a pool and a finished one in none", async () => {
    await admit(store);
    expect(() => other.run("update task set pool = null")).toThrow("task_pool");
    expect(() => other.run("update task set stage = 'running'")).toThrow("task_queued");
  });
});

describe("another process", () => {
  test("revokes a key, and within a second of the clock the grant shows it", async () => {
    const key = {
      id: keyId(1),
      accountId: ACCOUNT,
      name: "web",
      hash: "a".repeat(64),
      display: "…",
      policy: OPEN_POLICY,
      signsCallbacks: false,
      createdAt: NOW,
    };
    await store.accounts.createKey(key, undefined, bySystem());
    expect((await store.accounts.grantByHash(key.hash, NOW))?.revokedAt).toBeUndefined();
    other.run("update api_key set revoked_at = 5");
    expect((await store.accounts.grantByHash(key.hash, NOW + 1000))?.revokedAt).toBe(5);
  });

  test("suspends an account, and within a second of the clock the grant shows it", async () => {
    const key = {
      id: keyId(1),
      accountId: ACCOUNT,
      name: "web",
      hash: "a".repeat(64),
      display: "…",
      policy: OPEN_POLICY,
      signsCallbacks: false,
      createdAt: NOW,
    };
    await store.accounts.createKey(key, undefined, bySystem());
    await store.accounts.grantByHash(key.hash, NOW);
    other.run("update account set status = 'suspended'");
    expect((await store.accounts.grantByHash(key.hash, NOW + 1000))?.accountStatus).toBe("suspended");
  });

  test("multiplies an account's prices, and within a second of the clock the grant shows it", async () => {
    const key = newKey();
    await store.accounts.createKey(key, undefined, bySystem());
    expect((await store.accounts.grantByHash(key.hash, NOW))?.priceMultiplier).toBe(1_000_000);
    other.run("update account set price_multiplier = 1250000");
    expect((await store.accounts.grantByHash(key.hash, NOW + 1000))?.priceMultiplier).toBe(1_250_000);
  });

  test("sets and removes a price, and within a second of the clock it shows", async () => {
    const model = "a" as ModelId;
    expect(store.prices.rule(model, NOW)).toBeUndefined();
    other.run(`insert into price_override values ('a', '{"version":"own","lines":[]}', 5, 'why')`);
    expect(store.prices.rule(model, NOW + 1000)).toEqual({ version: "own", lines: [] });
    other.run("delete from price_override");
    expect(store.prices.rule(model, NOW + 2000)).toBeUndefined();
  });

  test("changes something, and keys, tokens and prices all show it though only one of them has looked", async () => {
    const [key, model] = [newKey(), "a" as ModelId];
    await store.accounts.createKey(key, undefined, bySystem());
    await store.accounts.grantByHash(key.hash, NOW);
    store.prices.rule(model, NOW);
    other.run(`insert into price_override values ('a', '{"version":"own","lines":[]}', 5, 'why')`);
    other.run("update account set status = 'suspended'");
    expect((await store.accounts.grantByHash(key.hash, NOW + 1000))?.accountStatus).toBe("suspended");
    // Within the half second in which nobody looks again.
    expect(store.prices.rule(model, NOW + 1001)?.version).toBe("own");
  });

  test("limits, rotates or lifts a grace, and within a second of the clock the grants show it", async () => {
    const key = {
      id: keyId(1),
      accountId: ACCOUNT,
      name: "web",
      hash: "a".repeat(64),
      display: "…",
      policy: OPEN_POLICY,
      signsCallbacks: false,
      createdAt: NOW,
    };
    await store.accounts.createKey(key, undefined, bySystem());
    await store.accounts.grantByHash(key.hash, NOW);
    other.run(`update api_key set policy = '{"concurrency":2}'`);
    expect((await store.accounts.grantByHash(key.hash, NOW + 1000))?.policy).toEqual({ concurrency: 2 });
    const rotated = "b".repeat(64);
    other.run(
      `update api_key set hash = '${rotated}', previous_hash = hash, previous_display = display, previous_expires_at = 9000000`,
    );
    expect((await store.accounts.grantByHash(key.hash, NOW + 2000))?.expiresAt).toBe(9_000_000);
    expect((await store.accounts.grantByHash(rotated, NOW + 2000))?.expiresAt).toBeUndefined();
    other.run("update api_key set previous_hash = null");
    expect(await store.accounts.grantByHash(key.hash, NOW + 3000)).toBeUndefined();
  });

  test("revokes a management token, and within a second of the clock it shows", async () => {
    const hash = "a".repeat(64);
    await store.accounts.createToken(
      {
        id: tokenId(1),
        name: "ci",
        hash,
        display: "…",
        scopes: ["read"],
        createdAt: NOW,
      },
      bySystem(),
    );
    expect((await store.accounts.tokenByHash(hash, NOW))?.revokedAt).toBeUndefined();
    other.run("update management_token set revoked_at = 5");
    expect((await store.accounts.tokenByHash(hash, NOW + 1000))?.revokedAt).toBe(5);
  });

  test("sees no commit from claims that find nothing", async () => {
    const version = () => other.query("pragma data_version").values()[0]?.[0];
    await admit(store);
    await claimOne(store);
    const before = version();
    await store.tasks.claim(claimQuery());
    await store.tasks.claim(claimQuery({ capacity: 0 }));
    expect(version()).toBe(before);
  });
});

test("what a task was charged for is kept line by line, and nothing for one that cost nothing", async () => {
  await admit(store, { number: 1 });
  await endOne(store, "completed");
  await admit(store, { number: 2 });
  await endOne(store, "failed");
  expect(other.query("select charge from task order by id").values().flat()).toEqual([
    '[{"sku":"image","quantity":1,"amount":40000}]',
    null,
  ]);
});

test("a page of a ledger has all its rows, however many of others' are between them", async () => {
  const quiet = accountId(2);
  await addAccount(store, { id: quiet });
  const put = (id: AccountId, amount: number) => store.accounts.credit(id, micros(amount), "", byHand(NOW));
  for (const amount of [1, 2]) await put(quiet, amount);
  await Promise.all(Array.from({ length: 10_050 }, () => put(ACCOUNT, 1)));
  for (const amount of [3, 4]) await put(quiet, amount);
  const page = async (limit: number, before?: number) =>
    (await store.accounts.ledgerPage(quiet, { limit, before })).map((row) =>
      [row.balanceDelta, row.balance].map(Number),
    );
  const all = [
    [4, 10],
    [3, 6],
    [2, 3],
    [1, 1],
  ];
  expect(await page(9)).toEqual(all);
  expect(await page(2)).toEqual(all.slice(0, 2));
  const third = (await store.accounts.ledgerPage(quiet, { limit: 2 })).at(-1)?.number;
  expect(await page(2, third)).toEqual(all.slice(2));
});

test("finished tasks are in none of the indexes that claim looks at", async () => {
  for (let number = 1; number <= 50; number++) await admit(store, { number });
  for (let number = 1; number <= 50; number++) await store.tasks.requestCancel(taskId(number), ACCOUNT, NOW);
  const entries = (index: string, pool: string) =>
    other.query(`select count(*) from task indexed by ${index} where pool = '${pool}'`).values()[0]?.[0];
  expect(entries("task_ready", "ready")).toBe(0);
  expect(entries("task_waiting", "waiting")).toBe(0);
  expect(entries("task_under_way", "under_way")).toBe(0);
});

test("without a source of tokens the database makes them, each another", async () => {
  const plain = openStore({ path: ":memory:" });
  await addAccount(plain, { id: ACCOUNT });
  await Promise.all([1, 2, 3].map((number) => plain.tasks.admit({ task: newTask({ number }), assets: [] })));
  const { leases } = await plain.tasks.claim(claimQuery());
  expect(new Set(leases.map(({ token }) => token)).size).toBe(3);
  await plain.stop();
});

test("tasks survive the process", async () => {
  await admit(store);
  await store.stop();
  store = openStore({ path: file.path });
  expect(await store.tasks.byId(taskId(1))).toMatchObject({ id: taskId(1), stage: "queued" });
});

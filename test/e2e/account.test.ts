import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { ACCOUNT_STATUS } from "../../src/http/account/wire.ts";
import { check } from "../../src/http/wire/check.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { arranged, keyIn, prepaidKey, svcJson } from "./support/command.ts";
import { readDatabase } from "./support/database.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "8x8", sandbox: { delay_ms: 0 } };
const HANGING = { ...IMAGE, sandbox: { outcome: "hang" } };

let server: Server;
let api: Api;

beforeAll(async () => {
  server = await startServer();
  api = createApi(server.url, server.firstKey());
});
afterAll(stopServers);

/** `data` of the status, which must be what the published schema says. */
async function statusOf({ send }: Api): Promise<JsonObject> {
  const { status, text } = await send("/v1/account/status");
  expect(status).toBe(200);
  const { data } = JSON.parse(text);
  check(ACCOUNT_STATUS, data);
  return data;
}

async function apiWith(...flags: string[]): Promise<Api> {
  const name = flags.join("-");
  const printed = await arranged(["keys", "create", "--name", name, ...flags, "--data-dir", server.dataDir]);
  return createApi(server.url, keyIn(printed));
}

describe("the account status", () => {
  test("of a new installation is whole, and says null for what is unlimited", async () => {
    const data = await statusOf(api);
    const firstKey = server.firstKey();
    expect(data).toMatchObject({
      account: { name: "default", status: "active" },
      key: {
        prefix: `${firstKey.slice(0, 11)}…${firstKey.slice(-4)}`,
        status: "active",
        expires_at: null,
        permissions: { models: null, features: null },
        ip_restricted: false,
        quota: {
          limit: null,
          used: "0.000000",
          reserved: null,
          remaining: null,
          reset: null,
          resets_at: null,
        },
        rate_limits: [],
      },
      balance: { mode: "unlimited", currency: "USD", available: null, credit_limit: null },
      can_create: true,
      blocked_by: [],
    });
    expect(Math.abs(Number(data.server_time) - Date.now() / 1000)).toBeLessThan(60);
    expect(JSON.stringify(data)).not.toContain(firstKey);
  });

  test("counts what ended, to the same amount as ledger and usage rows, and what is live", async () => {
    const owner = createApi(server.url, await prepaidKey(server.dataDir, "counted", "1"));
    await owner.make({ ...IMAGE, n: 3 });
    await owner.make({ ...IMAGE, sandbox: { delay_ms: 0, outcome: "failed" } });
    const live = await owner.accept(HANGING);
    await owner.underWay(live);
    expect(await statusOf(owner)).toMatchObject({
      key: { quota: { used: "0.030000" } },
      balance: { mode: "prepaid", total: "0.970000", reserved: "0.010000", available: "0.960000" },
      usage: {
        today: { tasks: 2, outputs: 3, cost: "0.030000", currency: "USD" },
        month: { tasks: 2, outputs: 3, cost: "0.030000", currency: "USD" },
      },
      tasks: { pending: 0, processing: 1 },
      can_create: true,
    });
    await owner.send(`/v1/tasks/${live}/cancel`, { method: "POST" });
    expect((await owner.wait(live)).status).toBe("cancelled");
    expect(await statusOf(owner)).toMatchObject({
      balance: { total: "0.970000", reserved: "0.000000" },
      usage: { today: { tasks: 3, outputs: 3, cost: "0.030000" } },
      tasks: { pending: 0, processing: 0 },
    });
    const [sums] = readDatabase<{ charged: number; captured: number }>(
      server.dataDir,
      `select (select sum(charged_micros) from usage_day) as charged,
              (select -sum(balance_delta_micros) from ledger_entry where kind = 'capture') as captured`,
    );
    expect(sums?.charged).toBe(sums?.captured ?? Number.NaN);
    expect(sums?.charged).toBeGreaterThan(0);
  });

  test("is answered at zero balance, which it names as what is in the way", async () => {
    const poor = createApi(server.url, await prepaidKey(server.dataDir, "poor", "0"));
    expect(await statusOf(poor)).toMatchObject({
      balance: { total: "0.000000", available: "0.000000" },
      can_create: false,
      blocked_by: ["balance"],
    });
    expect((await poor.create(IMAGE)).status).toBe(402);
  });

  test("shows a key's limits and permissions, and counts as no request of it", async () => {
    const limited = await apiWith(
      "--rpm",
      "2",
      "--concurrency",
      "1",
      "--models",
      "sandbox-*",
      "--expires",
      "1d",
    );
    for (let i = 0; i < 5; i++) await statusOf(limited);
    const id = await limited.accept(HANGING);
    const data = await statusOf(limited);
    expect(data).toMatchObject({
      key: {
        permissions: { models: ["sandbox-*"], features: null },
        rate_limits: [
          { metric: "requests", limit: 2, window_seconds: 60, remaining: 1 },
          { metric: "concurrent_tasks", limit: 1, window_seconds: null, remaining: 0, resets_at: null },
        ],
      },
      can_create: false,
      blocked_by: ["concurrency"],
    });
    await limited.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
  });

  test("holds a key's quota apart from the balance, and says when it begins anew", async () => {
    await arranged(["accounts", "create", "capped", "--credit", "1", "--data-dir", server.dataDir]);
    await svcJson(["accounts", "update", "capped", "--credit-limit", "0.5", "--data-dir", server.dataDir]);
    const capped = await apiWith("--account", "capped", "--quota", "0.04", "--quota-reset", "monthly");
    await capped.make({ ...IMAGE, n: 2 });
    const live = await capped.accept(HANGING);
    const now = new Date();
    expect(await statusOf(capped)).toMatchObject({
      key: {
        quota: {
          ...{ limit: "0.040000", used: "0.020000", reserved: "0.010000", remaining: "0.010000" },
          reset: "monthly",
          resets_at: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) / 1000,
        },
      },
      balance: { total: "0.980000", reserved: "0.010000", available: "1.470000", credit_limit: "0.500000" },
      can_create: true,
      blocked_by: [],
    });
    const last = await capped.accept(HANGING);
    expect(await statusOf(capped)).toMatchObject({
      key: { quota: { used: "0.020000", reserved: "0.020000", remaining: "0.000000" } },
      can_create: false,
      blocked_by: ["key_quota"],
    });
    for (const id of [live, last]) await capped.send(`/v1/tasks/${id}/cancel`, { method: "POST" });
    for (const id of [live, last]) expect((await capped.wait(id)).status).toBe("cancelled");
    expect(await statusOf(capped)).toMatchObject({
      key: { quota: { used: "0.020000", reserved: "0.000000", remaining: "0.020000" } },
      blocked_by: [],
    });
  });

  test("is refused without a key", async () => {
    const { status, body } = await api.send("/v1/account/status", { headers: { Authorization: "" } });
    expect([status, body.error?.code]).toEqual([401, "invalid_api_key"]);
  });
});

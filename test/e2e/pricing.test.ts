import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/domain/json.ts";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { keyIn, prepaidKey, svc, svcJson } from "./support/command.ts";
import { stateOf } from "./support/database.ts";
import { untilFollowed } from "./support/follows.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "8x8", sandbox: { delay_ms: 0 } };
const VIDEO = { model: "sandbox-video", prompt: "x", duration: 1, sandbox: { delay_ms: 0 } };

/** The price of an image is that of its settings file. */
const folder = emptyFolder("priced");
mkdirSync(join(folder, "svc-data"));
writeFileSync(
  join(folder, "svc-data", "svc.yaml"),
  'pricing:\n  sandbox-image:\n    version: "2026"\n    lines: [{ sku: picture, unit: output, amount: "0.020000" }]\n',
);
const server: Server = await startServer({ folder });
const api = createApi(server.url, server.firstKey());

afterAll(stopServers);

const local = (...args: string[]) => svcJson([...args, "--data-dir", server.dataDir]);
const estimated = async (body: JsonObject, of: Api = api): Promise<JsonObject> =>
  JSON.parse((await of.send("/v1/pricing/estimate", { body })).text).data;
const priceOf = async (model: string, of: Api = api): Promise<JsonObject> =>
  JSON.parse((await of.send(`/v1/models/${model}`)).text).data.price;
const costOf = async (body: JsonObject, of: Api = api) =>
  (await of.create(body)).headers.get("x-request-cost");

/** Resolves once an image costs so much. @throws Error when that takes longer than a change may */
async function costsWithin(body: JsonObject, cost: string): Promise<void> {
  await untilFollowed(
    () => estimated(body),
    ({ max_cost }) => max_cost === cost,
  );
}

describe("a price", () => {
  test("of the settings file is in force for models, estimates, creates and synchronous calls", async () => {
    expect(await priceOf("sandbox-image")).toEqual({
      currency: "USD",
      version: "2026",
      lines: [{ sku: "picture", unit: "output", amount: "0.020000" }],
    });
    expect(await estimated({ ...IMAGE, n: 3 })).toMatchObject({
      max_cost: "0.060000",
      price_version: "2026",
    });
    expect(await costOf({ ...IMAGE, n: 3 })).toBe("0.060000");
    const { sandbox: _sandbox, ...call } = IMAGE;
    const sync = await api.send("/compat/v1/images/generations", { body: call });
    expect([sync.status, sync.headers.get("x-request-cost")]).toEqual([200, "0.020000"]);
  });

  test("that is set is followed within a second, and a task under way keeps the one it was accepted at", async () => {
    const slow = { ...VIDEO, sandbox: { delay_ms: 2_500 } };
    const owner = createApi(server.url, await prepaidKey(server.dataDir, "owner", "1"));
    const before = await owner.accept(slow);
    await local("pricing", "set", "sandbox-video", "--per-second", "0.5", "--minimum", "0.7");
    await costsWithin(VIDEO, "0.700000");
    expect((await owner.send("/v1/account/status")).text).toContain('"reserved":"0.020000"');
    expect(await owner.wait(before, "video")).toMatchObject({
      status: "completed",
      usage: { cost: "0.020000", currency: "USD" },
    });
    const after = await owner.accept(VIDEO);
    expect(await owner.wait(after, "video")).toMatchObject({ usage: { cost: "0.700000", currency: "USD" } });
    expect((await owner.send("/v1/account/status")).text).toContain('"total":"0.280000"');
    await local("pricing", "reset", "sandbox-video", "--yes");
    await costsWithin(VIDEO, "0.020000");
  });

  test("that is set goes before the settings file's, which is back when it is reset", async () => {
    await local("pricing", "set", "sandbox-image", "--per-output", "0.03");
    await costsWithin(IMAGE, "0.030000");
    expect(await priceOf("sandbox-image")).toMatchObject({ lines: [{ amount: "0.030000" }] });
    await local("pricing", "reset", "sandbox-image", "--yes");
    await costsWithin(IMAGE, "0.020000");
    expect(await priceOf("sandbox-image")).toMatchObject({ version: "2026" });
  });

  test("is charged times what its key is, which sees that in models and estimates", async () => {
    const key = keyIn(await local("keys", "create", "--name", "reseller", "--price-multiplier", "1.333333"));
    const reseller = createApi(server.url, key);
    expect(await priceOf("sandbox-image", reseller)).toMatchObject({
      lines: [{ amount: "0.020000" }],
      multiplier: "1.333333",
    });
    const body = { ...IMAGE, n: 3 };
    expect(await estimated(body, reseller)).toMatchObject({
      max_cost: "0.080000",
      multiplier: "1.333333",
      line_items: [{ unit_price: "0.020000", quantity: 3, amount: "0.080000" }],
    });
    const { data, headers } = await reseller.create(body);
    expect(headers.get("x-request-cost")).toBe("0.080000");
    expect((await reseller.wait(data.task_id ?? "")).usage).toEqual({ cost: "0.080000", currency: "USD" });
    expect(await costOf(body)).toBe("0.060000");
  });

  test("by the megapixel is held by the size asked for", async () => {
    await local("pricing", "set", "sandbox-image", "--per-megapixel", "0.01", "--most-megapixels", "16");
    await costsWithin(IMAGE, "0.010000");
    const { data, headers } = await api.create({ ...IMAGE, size: "1025x1024" });
    expect(headers.get("x-request-cost")).toBe("0.020000");
    expect((await api.wait(data.task_id ?? "")).usage).toEqual({ cost: "0.020000", currency: "USD" });
    const auto = { ...IMAGE, size: "auto" };
    expect(await estimated(auto)).toMatchObject({
      status: "range",
      min_cost: "0.010000",
      max_cost: "0.160000",
    });
    const open = await api.create(auto);
    expect(open.headers.get("x-request-cost")).toBe("0.160000");
    // What it turned out to be: 1024 by 1024.
    expect((await api.wait(open.data.task_id ?? "")).usage).toEqual({ cost: "0.010000", currency: "USD" });
    await local("pricing", "reset", "sandbox-image", "--yes");
    await costsWithin(IMAGE, "0.020000");
  });
});

test("a request that a price leaves out is refused, and leaves nothing behind", async () => {
  const set = await svc([
    "pricing",
    "set",
    "sandbox-image",
    "--per-megapixel",
    "0.01",
    "--data-dir",
    server.dataDir,
  ]);
  expect(set.stderr).toContain('! Requests with size "auto" have no price now, and are refused.');
  await costsWithin(IMAGE, "0.010000");
  const before = stateOf(server.dataDir);
  const refused = await api.create({ ...IMAGE, size: "auto" });
  expect([refused.status, refused.data.error_code]).toEqual([400, "invalid_request"]);
  expect(stateOf(server.dataDir)).toEqual(before);
  expect((await estimated({ ...IMAGE, size: "auto" })).status).toBe("unpriced");
  await local("pricing", "reset", "sandbox-image", "--yes");
  await costsWithin(IMAGE, "0.020000");
});

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../src/app/app.ts";
import { openLocal } from "../../src/app/local.ts";
import { readConfig } from "../../src/app/settings.ts";
import type { ProviderId } from "../../src/domain/ids.ts";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import type { Overview } from "../../src/domain/overview.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { presentOverview } from "../../src/http/admin/overview/present.ts";
import { VERSION } from "../../src/version.ts";
import { lane, micros } from "../helpers/store.ts";

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Starts the service on a folder; `data` of its answers. */
async function start(folder: string) {
  const config = readConfig({ cwd: folder, flags: { port: "0" } });
  const app = createApp(config, { log: quiet });
  const { urls, firstKey } = await app.start();
  const ask = async (path: string, credential: string, body?: JsonObject): Promise<JsonObject> => {
    const response = await fetch(urls.api + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { Authorization: `Bearer ${credential}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (isJsonObject(answer) && isJsonObject(answer.data)) return answer.data;
    throw new Error(`${path} answers ${JSON.stringify(answer)}`);
  };
  return { config, ask, firstKey, stop: () => app.stop({ force: true }) };
}

test("the overview tells what the service did, and of its last hour also after a restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-overview-"));
  const service = await start(folder);
  const key = service.firstKey ?? "";
  const local = await openLocal(service.config);
  const { token } = await local.manage.createToken({ name: "watcher" });
  await local.stop();
  const image = { model: "sandbox-image", prompt: "A fox", size: "256x256", sandbox: { delay_ms: 0 } };
  const { task_id: id } = await service.ask("/v1/images/generations", key, image);
  await service.ask(`/v1/images/status/${String(id)}?wait=30`, key);

  const overview = await service.ask("/admin/v1/overview", token);
  expect(overview).toMatchObject({
    server: { version: VERSION, node: hostname(), not_ready: null },
    tasks: { queued: 0, under_way: 0, limit: service.config.scheduler.concurrency },
    lanes: [{ lane: "sandbox", queued: 0, oldest_seconds: null, under_way: 0 }],
    providers: [{ provider: "sandbox", completed: 1, failed: 0, success_rate: 1, refused: [] }],
    models: [{ model: "sandbox-image", completed: 1, failed: 0, success_rate: 1 }],
    callbacks: { owed: 0, oldest_seconds: null },
    spend: { hour: "0.010000", currency: "USD" },
    open: { waits: 0, streams: 0 },
  });
  const { creates, requests, memory, disk } = overview as Record<string, Record<string, number>>;
  for (const number of [creates?.per_second, requests?.per_second, memory?.rss_bytes, disk?.free_bytes])
    expect(number).toBeGreaterThan(0);
  expect(disk?.data_bytes).toBeGreaterThan(0);
  await service.stop();

  const again = await start(folder);
  const { models, windows } = await again.ask("/admin/v1/overview", token);
  expect(models).toEqual(overview.models ?? []);
  const { hour_since: hour, minute_since: minute } = windows as Record<string, number>;
  expect(Number(minute) - Number(hour)).toBeGreaterThan(3_500);
  await again.stop();
  rmSync(folder, { recursive: true });
}, 30_000);

test("figures are rounded for their reader, and absent ones are null", () => {
  const at = 1_700_000_000_500;
  const overview: Overview = {
    at,
    minute: {
      ...{ lengthMs: 30_000, seconds: 2, created: 10, answeredBySecond: [1, 2], createdBySecond: [0, 1] },
      answered: { "2xx": 100, "3xx": 0, "4xx": 1, "5xx": 2 },
    },
    lanes: [
      { lane: lane("a"), queued: 2, oldestAt: at - 61_700, underWay: 3, limit: 4 },
      { lane: lane("b"), queued: 1, oldestAt: at + 500, underWay: 0 },
    ],
    capacity: 9,
    hour: {
      since: at - 1_000,
      charged: micros(1_250_000),
      models: [
        { model: "fox", completed: 2, failed: 1, p50Ms: 3, p95Ms: 4 },
      ] as unknown as Overview["hour"]["models"],
      checks: [
        { check: "slurs", allowed: 9, refused: 1, outages: 0, p50Ms: 0.025 },
        { check: "vendor", allowed: 0, refused: 0, outages: 2 },
      ],
    },
    providers: [{ provider: "a" as ProviderId, completed: 0, failed: 0, refused: ["x/y"] }],
    callbacks: { count: 0 },
    vitals: { rssBytes: 1, heapBytes: 2, lagP50Ms: 0.123, lagMaxMs: 4.567 },
    disk: { freeBytes: 5, databaseBytes: 6, walBytes: 7 },
    stays: { streams: 8, waits: 9 },
  };
  expect(presentOverview(overview, { version: "1.2.3", startedAt: at - 5_000, node: "here" })).toEqual({
    server: {
      ...{ version: "1.2.3", node: "here", not_ready: null },
      ...{ started_at: 1_699_999_995, time: 1_700_000_000 },
    },
    windows: { seconds: 2, minute_since: 1_699_999_970, hour_since: 1_699_999_999 },
    requests: {
      per_second: 3.43,
      by_class: { "2xx": 3.33, "3xx": 0, "4xx": 0.03, "5xx": 0.07 },
      by_second: [1, 2],
    },
    creates: { per_second: 0.33, by_second: [0, 1] },
    tasks: { queued: 3, under_way: 3, limit: 9 },
    lanes: [
      { lane: "a", queued: 2, oldest_seconds: 61, under_way: 3, limit: 4 },
      { lane: "b", queued: 1, oldest_seconds: 0, under_way: 0, limit: null },
    ],
    providers: [{ provider: "a", completed: 0, failed: 0, success_rate: null, refused: ["x/y"] }],
    models: [{ model: "fox", completed: 2, failed: 1, success_rate: 0.6666, p50_ms: 3, p95_ms: 4 }],
    checks: [
      { check: "slurs", allowed: 9, refused: 1, outages: 0, p50_ms: 0.025 },
      { check: "vendor", allowed: 0, refused: 0, outages: 2, p50_ms: null },
    ],
    callbacks: { owed: 0, oldest_seconds: null },
    spend: { hour: "1.250000", currency: "USD" },
    memory: { rss_bytes: 1, heap_bytes: 2 },
    loop: { lag_p50_ms: 0.12, lag_max_ms: 4.57 },
    disk: { free_bytes: 5, data_bytes: 6, wal_bytes: 7 },
    open: { waits: 9, streams: 8 },
  });
});

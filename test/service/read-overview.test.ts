import { expect, test } from "bun:test";
import type { ModelId, ProviderId } from "../../src/domain/ids.ts";
import type { HourCounts, MinuteCounts, Overview } from "../../src/domain/overview.ts";
import { createReadOverview } from "../../src/service/read-overview.ts";
import { micros } from "../helpers/store.ts";

const [OFF, ON, IDLE] = ["closed", "open", "quiet"] as ProviderId[] as [ProviderId, ProviderId, ProviderId];
const MINUTE: MinuteCounts = {
  ...{ lengthMs: 1_000, seconds: 0, created: 0, answeredBySecond: [], createdBySecond: [] },
  answered: { "2xx": 1, "3xx": 0, "4xx": 0, "5xx": 0 },
};
const HOUR: HourCounts = {
  since: 5,
  charged: micros(7),
  models: [{ model: "fox" as ModelId, completed: 1, failed: 0, p50Ms: 10, p95Ms: 20 }],
  providers: [{ provider: OFF, completed: 1, failed: 2 }],
  checks: [],
};

function setup(given: { failing?: () => boolean } = {}) {
  let now = 0;
  let readings = 0;
  const read = createReadOverview({
    clock: { now: () => 1_000_000 + now, elapsed: () => now },
    tasks: {
      async lanes() {
        readings += 1;
        if (given.failing?.() === true) throw new Error("The store is closed.");
        return [
          { lane: ON, queued: 3, oldestAt: 999, underWay: 2 },
          { lane: OFF, queued: 1, oldestAt: 998, underWay: 0 },
        ];
      },
    },
    callbacks: { owed: async () => ({ count: 4, oldestAt: 997 }) },
    routes: {
      troubles: async () => [
        { lane: ON, upstreamModel: "acme/one", detail: "no credit", since: 3, kind: "spent", times: 1 },
      ],
    },
    counts: { minute: () => MINUTE, hour: () => HOUR },
    vitals: () => ({ rssBytes: 1, heapBytes: 2, lagP50Ms: 3, lagMaxMs: 4 }),
    disk: () => ({ freeBytes: 5, databaseBytes: 6, walBytes: 7 }),
    stays: () => ({ streams: 8, waits: 9 }),
    notReady: () => "disk_full",
    lanes: [
      { lane: IDLE, capacity: 5 },
      { lane: ON, capacity: 6 },
    ],
    capacity: 50,
  });
  return {
    read,
    readings: () => readings,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test("an overview has every lane and provider that is on or has something, by name", async () => {
  const { read } = setup();
  expect(await read()).toEqual({
    at: 1_000_000,
    notReady: "disk_full",
    minute: MINUTE,
    lanes: [
      { lane: OFF, queued: 1, oldestAt: 998, underWay: 0, limit: undefined },
      { lane: ON, queued: 3, oldestAt: 999, underWay: 2, limit: 6 },
      { lane: IDLE, queued: 0, underWay: 0, limit: 5 },
    ],
    capacity: 50,
    hour: HOUR,
    providers: [
      { provider: OFF, completed: 1, failed: 2, refused: [] },
      { provider: ON, completed: 0, failed: 0, refused: ["acme/one"] },
      { provider: IDLE, completed: 0, failed: 0, refused: [] },
    ],
    callbacks: { count: 4, oldestAt: 997 },
    vitals: { rssBytes: 1, heapBytes: 2, lagP50Ms: 3, lagMaxMs: 4 },
    disk: { freeBytes: 5, databaseBytes: 6, walBytes: 7 },
    stays: { streams: 8, waits: 9 },
  } satisfies Overview & { hour: HourCounts });
});

test("everybody who asks within a second gets one reading", async () => {
  const { read, readings, pass } = setup();
  const first = read();
  const same = read();
  pass(999);
  for (const later of [same, read()]) expect(await later).toBe(await first);
  expect(readings()).toBe(1);
  pass(1);
  await read();
  expect(readings()).toBe(2);
});

test("a reading that failed is not shared", async () => {
  let isClosed = true;
  const { read, readings } = setup({ failing: () => isClosed });
  await expect(read()).rejects.toThrow("The store is closed.");
  isClosed = false;
  await read();
  expect(readings()).toBe(2);
});

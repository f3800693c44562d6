import { expect, test } from "bun:test";
import type { LaneId } from "../../src/domain/ids.ts";
import type { RouteTrouble } from "../../src/domain/ports/route-store.ts";
import { createReadMetrics } from "../../src/service/read-metrics.ts";
import { fakeClock } from "../helpers/engine.ts";
import { LANE } from "../helpers/store.ts";

function trouble(lane: LaneId): RouteTrouble {
  return { lane, upstreamModel: "m", kind: "refused", detail: "no", since: 0, times: 1 };
}

test("a route of a provider that was switched off is no trouble", async () => {
  const read = createReadMetrics({
    ...{ clock: fakeClock(), startedAt: 0, build: { version: "1", bun: "1" } },
    counted: () => ({}) as never,
    latestStock: async () => undefined,
    routes: { troubles: async () => [trouble("gone" as LaneId), trouble(LANE)] },
    vitals: () => ({ rssBytes: 0, heapBytes: 0, lagP50Ms: 0, lagMaxMs: 0 }),
    process: async () => ({ cpuSeconds: 0, openFiles: undefined, mostFiles: undefined }),
    disk: () => ({ freeBytes: 0, databaseBytes: 0, walBytes: 0 }),
    stays: () => ({ waits: 0, streams: 0 }),
    backups: () => undefined,
    notReady: () => undefined,
    lanes: [{ lane: LANE, capacity: 1 }],
  });
  expect((await read()).svc_route_trouble).toEqual([
    { labels: { lane: LANE, upstream_model: "m", kind: "refused" }, value: 1 },
  ]);
});

import { expect, test } from "bun:test";
import type { LaneId } from "../../src/domain/ids.ts";
import type { RouteTrouble } from "../../src/domain/ports/route-store.ts";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import { createReadMetrics } from "../../src/service/read-metrics.ts";
import { fakeClock } from "../helpers/engine.ts";
import { ACCOUNT, LANE } from "../helpers/store.ts";

function trouble(lane: LaneId): RouteTrouble {
  return { lane, upstreamModel: "m", kind: "refused", detail: "no", since: 0, times: 1 };
}

function setup(troubles: () => Promise<RouteTrouble[]>) {
  return createReadMetrics({
    ...{ clock: fakeClock(), startedAt: 0, build: { version: "1", bun: "1" } },
    counted: () => ({}) as never,
    latestStock: async () => undefined,
    routes: { troubles },
    vitals: () => ({ rssBytes: 0, heapBytes: 0, lagP50Ms: 0, lagMaxMs: 0 }),
    process: async () => ({ cpuSeconds: 0, openFiles: undefined, mostFiles: undefined }),
    disk: () => ({ freeBytes: 0, databaseBytes: 0, walBytes: 0 }),
    stays: () => ({ waits: 0, streams: 0 }),
    backups: () => undefined,
    notReady: () => undefined,
    lanes: [{ lane: LANE, capacity: 1 }],
  });
}

const TROUBLE = [{ labels: { lane: LANE, upstream_model: "m", kind: "refused" }, value: 1 }];

test("a route of a provider that was switched off is no trouble, nor one that serves others than those who met it", async () => {
  const served = { ...trouble(LANE), upstreamModel: "served", callers: [ACCOUNT], servesOthers: true };
  const read = setup(async () => [trouble("gone" as LaneId), trouble(LANE), served]);
  expect((await read()).svc_route_trouble).toEqual(TROUBLE);
});

test("while the database is away, everything else is told, and its troubles as they were", async () => {
  let isAway = true;
  const read = setup(async () => {
    if (isAway) throw new StorageError("away", "The database does not answer.");
    return [trouble(LANE)];
  });
  expect((await read()).svc_ready).toEqual([{ labels: {}, value: 1 }]);
  isAway = false;
  await read();
  isAway = true;
  expect((await read()).svc_route_trouble).toEqual(TROUBLE);
});

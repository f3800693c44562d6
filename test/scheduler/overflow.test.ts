import { expect, test } from "bun:test";
import type { LaneId, ProviderId } from "../../src/domain/ids.ts";
import type { Model, Overflow } from "../../src/domain/model/model.ts";
import type { RouteStore } from "../../src/domain/ports/route-store.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import type { GenerationRequest } from "../../src/domain/task/request.ts";
import { createRecounts } from "../../src/scheduler/routing/recounts.ts";
import { createWays } from "../../src/scheduler/routing/ways.ts";
import { fakeClock, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { micros, newTask } from "../helpers/store.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
const noStore: RouteStore = {
  troubles: async () => [],
  changedTroubles: async () => undefined,
  set: async () => {},
  clear: async () => {},
};
const [HOUSE, CLOUD] = ["house", "cloud"] as [ProviderId, ProviderId];
const { request } = newTask();
const HOUR = 3_600_000;

/** An engine of the house that makes two tasks at once, each in ten seconds, and a dear one in the cloud. */
function setup(overflow: Partial<Overflow> = {}) {
  const clock = fakeClock();
  const adapters = [scriptedProvider({ id: HOUSE, concurrency: 2 }), scriptedProvider({ id: CLOUD })];
  const ways = createWays({
    ...{ adapters: () => adapters, routes: noStore, clock, log: silent, random: () => 0.5 },
  });
  const cost = { version: "1", lines: [{ sku: "x", unit: "output", unitMicros: micros(40) }] } as const;
  const model: Model = {
    ...MODEL,
    routes: [
      { provider: HOUSE, upstreamModel: "own" },
      { provider: CLOUD, upstreamModel: "dear", cost },
    ],
    overflow: { to: { provider: CLOUD }, afterMs: 30_000, ...overflow },
  };
  for (const _ of [1, 2, 3]) ways.durations.took(HOUSE, "own", request, 10_000);
  const create = (given: Partial<GenerationRequest> = {}) => {
    const way = ways.routing.choose(model, { ...request, ...given });
    return way && (way.waitMs > 0 ? `${way.lane} in ${way.waitMs}` : String(way.lane));
  };
  return { ...ways, clock, model, create };
}

const count = (lanes: readonly (string | undefined)[], lane: string) =>
  lanes.filter((each) => each === lane).length;

test("the house takes what it can, and the cloud what would wait too long", () => {
  const { create } = setup();
  const lanes = Array.from({ length: 20 }, () => create());
  // Two at once, and then half a task's time for each that waits: the eighth waits for 30 s, a ninth would for 35.
  expect(lanes.slice(0, 8)).toEqual(Array(8).fill("house"));
  expect([count(lanes, "house"), count(lanes, "cloud")]).toEqual([8, 12]);
});

test("tasks whose inputs were fetched, or that were put off, do not count as waiting after they began", () => {
  const { create, loads } = setup();
  // Something waits elsewhere all the time, so that the queue is never empty.
  loads.assigned(CLOUD);
  for (let i = 0; i < 50; i++) {
    expect(create()).toBe("house");
    for (const _ of ["inputs fetched", "put off"])
      loads.moved({ lane: HOUSE, stage: "queued", failures: 0 }, { to: "queued" });
    loads.began(HOUSE);
    loads.moved({ lane: HOUSE, stage: "running", failures: 0 }, { to: "terminal" });
  }
  expect([loads.queued(HOUSE), loads.queued(CLOUD), loads.turns(HOUSE)]).toEqual([0, 1, 0]);
});

test("a task that leaves the queue of an account waits there no more", () => {
  const { loads } = setup();
  const waiting = () => [loads.queued(HOUSE), loads.queued(CLOUD)];
  for (const _ of [1, 2, 3]) loads.assigned(HOUSE);
  loads.moved({ lane: HOUSE, stage: "queued", failures: 0 }, { to: "queued", lane: CLOUD });
  expect(waiting()).toEqual([2, 1]);
  loads.moved({ lane: CLOUD, stage: "queued", failures: 0 }, { to: "submitting" });
  expect(waiting()).toEqual([2, 0]);
  loads.moved({ lane: CLOUD, stage: "submitting", failures: 0 }, { to: "queued" });
  loads.moved({ lane: HOUSE, stage: "queued", failures: 0 }, { to: "terminal" });
  expect(waiting()).toEqual([1, 1]);
});

test("no more goes to the cloud in an hour than may", () => {
  for (const [terms, most] of [
    [{ mostPerHour: 3 }, 3],
    [{ mostCost: micros(100) }, 2],
    [{ mostPerHour: 5, mostCost: micros(160) }, 4],
    [{ mostCost: micros(39) }, 0],
  ] as const) {
    const { create, clock } = setup(terms);
    const lanes = () => Array.from({ length: 20 }, () => create());
    expect(count(lanes(), "cloud")).toBe(most);
    clock.advance(HOUR - 1);
    expect(count(lanes(), "cloud")).toBe(0);
    clock.advance(1);
    expect(count(lanes(), "cloud")).toBe(most);
  }
});

test("a house that is away for longer sends its tasks to the cloud, and one that failed a task sends that one", () => {
  const { create, standing, routing, model } = setup();
  const house = { lane: HOUSE as LaneId, upstreamModel: "own" };
  const failed = routing.choose(model, request, {
    attempts: [house],
    current: { lane: HOUSE, routeIndex: 0 },
  });
  expect(String(failed?.lane)).toBe("cloud");
  standing.refused(house, "submission", { kind: "spent", detail: "402" });
  expect(create()).toBe("cloud");
});

test("a task that was let through stays, without being counted again", () => {
  const { create, routing, model } = setup({ mostPerHour: 1 });
  while (create() !== "cloud");
  const current = { lane: CLOUD as LaneId, routeIndex: 1 };
  for (const _ of [1, 2, 3]) expect(String(routing.choose(model, request, { current })?.lane)).toBe("cloud");
});

test("where the budget is spent and the house cannot do it, the task waits for the budget", () => {
  const { routing, model } = setup({ mostPerHour: 1 });
  const [house, cloud] = model.routes;
  const only = { ...model, routes: [{ ...house!, modes: ["other"] }, cloud!] };
  const choose = () => routing.choose(only, request);
  expect([choose()?.waitMs, choose()?.waitMs]).toEqual([0, HOUR]);
});

test("who names the route has it, whatever the budget", () => {
  const { create } = setup({ mostPerHour: 1 });
  for (const _ of [1, 2, 3]) expect(create({ routing: { route: { provider: CLOUD } } })).toBe("cloud");
});

test("a house whose tasks' times are not known has them wait", () => {
  const { create } = setup();
  const lanes = Array.from({ length: 20 }, () => create({ mode: "image-to-image" }));
  expect(count(lanes, "house")).toBe(20);
});

test("what is cancelled or taken over while it waits does not send tasks to the cloud for good", async () => {
  const { create, loads, clock } = setup();
  const recounts = createRecounts({
    ...{ loads, clock, log: silent },
    tasks: { laneCounts: async () => [{ lane: HOUSE, queued: 1, underWay: 2, awaiting: 0 }] },
  });
  recounts.start();
  while (create() !== "cloud");
  clock.advance(60_000);
  await Bun.sleep(0);
  expect([loads.queued(HOUSE), create()]).toEqual([1, "house"]);
  while (create() !== "cloud");
  clock.advance(5_000);
  await Bun.sleep(0);
  expect(create()).toBe("house");
  recounts.stop();
});

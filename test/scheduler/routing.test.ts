import { describe, expect, test } from "bun:test";
import type { LaneId, ProviderId } from "../../src/domain/ids.ts";
import type { Model, Route } from "../../src/domain/model/model.ts";
import type { RoutePolicy } from "../../src/domain/model/route-policy.ts";
import type { ProviderAdapter } from "../../src/domain/ports/provider.ts";
import type { RouteStore } from "../../src/domain/ports/route-store.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import type { GenerationRequest } from "../../src/domain/task/request.ts";
import type { AttemptState } from "../../src/domain/task/task.ts";
import { OPENS_AFTER } from "../../src/scheduler/routing/standing.ts";
import { createWays } from "../../src/scheduler/routing/ways.ts";
import { fakeClock, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { micros, newTask, whole } from "../helpers/store.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
const noStore: RouteStore = {
  troubles: async () => [],
  changedTroubles: async () => undefined,
  set: async () => {},
  clear: async () => {},
};
const account = (lane: string, fields: Partial<ProviderAdapter> = {}) =>
  Object.assign(scriptedProvider({ id: lane.split("/")[0] as ProviderId, ...fields }), {
    lane: lane as LaneId,
  });
const route = (provider: string, fields: Partial<Route> = {}): Route => ({
  ...{ provider: provider as ProviderId, upstreamModel: `${provider}-model` },
  ...fields,
});
const costing = (amount: number): Route["cost"] => ({
  ...{ version: "1", lines: [{ sku: "x", unit: "output", unitMicros: micros(amount) }] },
});
const request = newTask().request;

/** Two providers, the second with two accounts. */
function setup(routes = [route("a"), route("b")], policy?: RoutePolicy, draws: number[] = []) {
  const clock = fakeClock();
  const adapters = [account("a"), account("b"), account("b/two")];
  const random = () => draws.shift() ?? 0.5;
  const ways = createWays({ adapters: () => adapters, routes: noStore, clock, log: silent, random });
  const model: Model = { ...MODEL, routes, routePolicy: policy };
  const choose = (
    given: Partial<GenerationRequest> = {},
    looking?: Parameters<typeof ways.routing.choose>[2],
  ) => {
    const chosen = ways.routing.choose(model, { ...request, ...given }, looking);
    return chosen && (chosen.waitMs > 0 ? `${chosen.lane} in ${chosen.waitMs}` : String(chosen.lane));
  };
  const open = (lane: string, upstreamModel: string) => {
    for (let i = 0; i < OPENS_AFTER; i++)
      ways.standing.failed({ lane: lane as LaneId, upstreamModel }, "submission", "500");
  };
  return { ...ways, clock, model, choose, open };
}

describe("a way", () => {
  test("is the first route, until it is open or paused, and again afterwards", () => {
    const { choose, open, clock, pace, standing } = setup();
    expect(choose()).toBe("a");
    open("a", "a-model");
    expect(choose()).toMatch(/^b/);
    clock.advance(30_000);
    expect(choose()).toBe("a");
    standing.worked({ lane: "a" as LaneId, upstreamModel: "a-model" }, "submission");
    pace.slow(whole("a" as LaneId), 5_000);
    expect(choose()).toMatch(/^b/);
  });

  test("that opens first is taken where all are closed to tasks", () => {
    const { choose, open, clock, pace } = setup();
    open("a", "a-model");
    clock.advance(10_000);
    for (const lane of ["b", "b/two"] as LaneId[]) pace.slow(whole(lane), 300_000);
    expect(choose()).toBe("a in 20000");
  });

  test("that only its operator can open comes last, however soon it is tried again", () => {
    const { choose, open, standing } = setup([route("a"), route("b", { account: "b" as LaneId })]);
    standing.refused({ lane: "a" as LaneId, upstreamModel: "a-model" }, "submission", {
      kind: "route",
      detail: "404",
    });
    for (const _ of [1, 2]) open("b", "b-model");
    standing.enter({ lane: "b" as LaneId, upstreamModel: "b-model" });
    expect(choose()).toMatch(/^b in 30000/);
  });

  test("that is the only one tells a task that waits there how long its account pauses, and a new one nothing", () => {
    const { choose, pace } = setup([route("a")]);
    const waiting = { attempts: [], current: { lane: "a" as LaneId, routeIndex: 0 } };
    expect(choose({}, waiting)).toBe("a");
    pace.slow(whole("a" as LaneId), 5_000);
    expect(choose({}, waiting)).toBe("a in 5000");
    expect(choose()).toBe("a");
  });

  test("that was tried comes after those that were not", () => {
    const { choose } = setup([route("b"), route("a")]);
    const tried = (...lanes: string[]) => ({
      attempts: lanes.map((lane) => ({ lane: lane as LaneId, upstreamModel: `${lane.split("/")[0]}-model` })),
    });
    expect(choose({}, tried("b"))).toBe("b/two");
    expect(choose({}, tried("b", "b/two"))).toBe("a");
    expect(choose({}, tried("b", "b/two", "a", "a", "b"))).toBe("b/two");
  });

  test("has room, where the task was sent before and another one has none", () => {
    const { choose, loads } = setup([route("a"), route("b", { account: "b" as LaneId })]);
    const tried = { attempts: [{ lane: "c" as LaneId, upstreamModel: "c-model" }] };
    expect(choose({}, tried)).toBe("a");
    const capacity = account("a").concurrency;
    for (let i = 0; i < capacity; i++) loads.began("a" as LaneId);
    expect(choose({}, tried)).toBe("b");
    expect(choose({}, { attempts: [] })).toBe("a");
  });

  test("is not taken again by a task whose job failed there, and is by one that it refused", () => {
    const { choose } = setup([route("a"), route("b", { account: "b" as LaneId })]);
    const tried = (a: AttemptState, b: AttemptState) => ({
      attempts: [
        { lane: "a" as LaneId, upstreamModel: "a-model", state: a },
        { lane: "b" as LaneId, upstreamModel: "b-model", state: b },
      ],
    });
    expect(choose({}, tried("rejected", "rejected"))).toBe("a");
    expect(choose({}, tried("done", "rejected"))).toBe("b");
    expect(choose({}, tried("done", "done"))).toBeUndefined();
  });

  test("is kept by a task that waits for it, unless it closes", () => {
    const { choose, open } = setup([route("b"), route("a")]);
    const waits = (lane: string, routeIndex: number) => ({ current: { lane: lane as LaneId, routeIndex } });
    for (const lane of ["b", "b/two", "b", "b/two"]) expect(choose({}, waits(lane, 0))).toBe(lane);
    open("b/two", "b-model");
    expect(choose({}, waits("b/two", 0))).toBe("b");
  });

  test("leads to the account that its route names, and to no provider that is switched off", () => {
    expect(setup([route("b", { account: "b/two" as LaneId })]).choose()).toBe("b/two");
    expect(setup([route("c"), route("a")]).choose()).toBe("a");
    expect(setup([route("c")]).choose()).toBeUndefined();
    expect(setup([route("b", { account: "b/three" as LaneId })]).choose()).toBeUndefined();
  });

  test("can do the request exactly", () => {
    const { choose } = setup([
      route("a", { modes: ["image-to-image"] }),
      route("b", { only: { n: { maximum: 1 } } }),
    ]);
    expect(choose()).toMatch(/^b/);
    expect(choose({ n: 2 })).toBeUndefined();
  });

  test("is the one that the request names", () => {
    const { choose } = setup();
    const named = (provider: string, upstreamModel?: string) => ({
      routing: { route: { provider: provider as ProviderId, upstreamModel } },
    });
    expect(choose(named("b"))).toMatch(/^b/);
    expect(choose(named("b", "b-model"))).toMatch(/^b/);
    expect(choose(named("b", "other"))).toBeUndefined();
    expect(choose({ routing: { route: { provider: "b" as ProviderId, account: "b/two" as LaneId } } })).toBe(
      "b/two",
    );
  });
});

describe("a policy", () => {
  test("ordered spreads tasks over the accounts of one route", () => {
    const { choose } = setup([route("b")]);
    const lanes = Array.from({ length: 10 }, () => choose());
    expect(lanes.filter((lane) => lane === "b")).toHaveLength(5);
  });

  test("weighted draws by the weights, and takes the others where the one drawn is closed", () => {
    const routes = [route("a", { weight: 3 }), route("b", { weight: 1 })];
    const { choose, open } = setup(routes, "weighted", [0, 0.74, 0.76, 0.99, 0.99]);
    expect([choose(), choose(), choose()?.[0], choose()?.[0]]).toEqual(["a", "a", "b", "b"]);
    open("b", "b-model");
    open("b/two", "b-model");
    expect(choose()).toBe("a");
  });

  test("cheapest looks at what the request costs there; an unknown cost comes last", () => {
    const routes = [route("c"), route("a", { cost: costing(20) }), route("b", { cost: costing(10) })];
    expect(setup(routes, "cheapest").choose()).toMatch(/^b/);
    expect(setup([route("a"), route("b", { cost: costing(10) })], "cheapest").choose()).toMatch(/^b/);
  });

  test("fastest takes what half of the latest tasks took, and tries what it does not know", () => {
    const { choose, durations } = setup(undefined, "fastest");
    const took = (lane: string, ...times: number[]) => {
      for (const ms of times) durations.took(lane as LaneId, `${lane.split("/")[0]}-model`, request, ms);
    };
    took("a", 10, 10, 10);
    took("b", 5, 5, 9_000);
    expect(choose()).toBe("b/two");
    took("b/two", 20, 20, 20);
    expect(choose()).toBe("b");
  });

  test("least_busy takes the account with most room for its size", () => {
    const { choose, loads } = setup(undefined, "least_busy");
    const begin = (lane: string, count: number) => {
      for (let i = 0; i < count; i++) loads.began(lane as LaneId);
    };
    begin("a", 3);
    begin("b", 2);
    begin("b/two", 1);
    expect([choose(), choose(), choose()].sort()).toEqual(["b", "b/two", "b/two"].sort());
  });

  test("of a request counts before that of its model", () => {
    const routes = [route("a"), route("b", { cost: costing(1) })];
    expect(setup(routes).choose({ routing: { policy: "cheapest" } })).toMatch(/^b/);
  });
});

test("every way is told with what is in the way of it", () => {
  const { routing, model, open, pace, standing } = setup([route("a"), route("b", { modes: [] }), route("c")]);
  open("a", "a-model");
  standing.block({ lane: "b" as LaneId, upstreamModel: "" }, "maintenance");
  pace.slow(whole("b/two" as LaneId), 1_000);
  const told = routing
    .consider(model, request)
    .map(({ lane, standing: { state }, isAble, isChosen }) => [...[lane, state, isAble, isChosen]]);
  expect(told.sort()).toEqual(
    [
      ["a", "open", true, true],
      ["b", "blocked", false, false],
      ["b/two", "paused", false, false],
      [undefined, "closed", true, false],
    ].sort() as never,
  );
});

test("each way says why it was taken or not, and other tasks are spread as before", () => {
  const routes = [
    route("a"),
    route("a", { upstreamModel: "narrow", only: { size: { enum: ["1x1"] } } }),
    route("b"),
    route("gone"),
  ];
  const { routing, model, open } = setup(routes);
  open("b", "b-model");
  const verdicts = (given: Partial<GenerationRequest> = {}, tried: readonly string[] = []) => {
    const asked = { ...request, ...given };
    const attempts = tried.map((lane) => ({ lane: lane as LaneId, upstreamModel: "b-model" }));
    const chosen = routing.choose(model, asked, { attempts })!;
    return routing
      .verdicts(model, asked, { attempts }, chosen)
      ?.map(({ lane, upstreamModel, verdict }) => `${lane} ${upstreamModel} ${verdict}`);
  };
  expect(verdicts()).toEqual([
    ...["a a-model chosen", "a narrow cannot", "b b-model open"],
    ...["b/two b-model standby", "gone gone-model off"],
  ]);
  const wanted = { provider: "b" as ProviderId, account: "b/two" as LaneId };
  expect(verdicts({ routing: { route: wanted } })).toEqual([
    ...["a a-model not_asked_for", "a narrow not_asked_for", "b b-model not_asked_for"],
    ...["b/two b-model chosen", "gone gone-model off"],
  ]);
  expect(verdicts({}, ["b/two"])).toContain("b/two b-model tried");
});

test("a route for what would wait too long elsewhere is held back from a task that would not", () => {
  const { routing, model } = setup([route("a"), route("b", { account: "b" as LaneId })]);
  const overflow = { to: { provider: "b" as ProviderId }, afterMs: 1_000, mostPerHour: 1 };
  const housed = { ...model, overflow };
  const chosen = routing.choose(housed, request, {})!;
  expect(routing.verdicts(housed, request, {}, chosen)?.map(({ verdict }) => verdict)).toEqual([
    ...(["chosen", "held_back"] as const),
  ]);
});

test("one way has no verdicts", () => {
  const { routing, model } = setup([route("a")]);
  const chosen = routing.choose(model, request, {})!;
  expect(routing.verdicts(model, request, {}, chosen)).toBeUndefined();
});

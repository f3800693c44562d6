import { expect, test } from "bun:test";
import { DAY_MS } from "../../src/domain/day.ts";
import type { LaneId, ModelId, ProviderId } from "../../src/domain/ids.ts";
import type { Model } from "../../src/domain/model/model.ts";
import { standingFrom } from "../../src/domain/model/standing.ts";
import type { RouteTarget } from "../../src/domain/ports/managed-routes.ts";
import type { RouteTrouble } from "../../src/domain/ports/route-store.ts";
import { managedWayForm } from "../../src/domain/route-form.ts";
import { createManageRoutes, type ManageRoutesDeps } from "../../src/service/manage-routes.ts";
import { MODEL } from "../helpers/engine.ts";
import { micros } from "../helpers/store.ts";

const [FAL, BFL] = ["fal", "bfl"] as ProviderId[] as [ProviderId, ProviderId];
const [FIRST, SECOND] = ["fal", "fal/second"] as LaneId[] as [LaneId, LaneId];
const model = (id: string, ...routes: Model["routes"]): Model => ({ ...MODEL, id: id as ModelId, routes });
const MODELS = [
  model("flux", { provider: FAL, upstreamModel: "flux/dev" }, { provider: BFL, upstreamModel: "flux-dev" }),
  model("flux-fast", { provider: FAL, upstreamModel: "flux/dev" }),
  model("veo", { provider: FAL, upstreamModel: "veo", account: SECOND }),
];

function setup(given: Partial<ManageRoutesDeps> = {}) {
  const troubles: RouteTrouble[] = [];
  const allowed: string[] = [];
  const routes = createManageRoutes({
    actor: { kind: "local", name: "root" },
    models: async () => MODELS,
    providers: async () => [FAL, BFL],
    accounts: async () => [
      { provider: FAL, lane: SECOND, concurrency: 4 },
      { provider: FAL, lane: FIRST },
    ],
    standings: async () => (route) => standingFrom(troubles, route, 0),
    loads: async () => [{ lane: SECOND, queued: 9, underWay: 3 }],
    spentSince: async () => [],
    clock: { now: () => 3 * DAY_MS + 5 },
    block: async (route, detail) =>
      void troubles.push({ ...route, kind: "blocked", detail, since: 5_000, times: 1 }),
    allow: async ({ lane, upstreamModel }) => void allowed.push(`${lane} ${upstreamModel}`),
    ...given,
  });
  const stateOf = async (target: RouteTarget) =>
    (await routes.block(target)).map(
      ({ lane, upstreamModel, standing }) => `${lane} ${upstreamModel} ${standing.state}`,
    );
  return { routes, allowed, stateOf };
}

test("a list has every way at every account that is switched on, with the models that take it", async () => {
  const { routes } = setup();
  const place = { provider: FAL, breaker: "closed", state: "closed" };
  expect((await routes.list()).map(managedWayForm)).toEqual([
    {
      ...place,
      account: "default",
      lane: FIRST,
      upstream_model: "flux/dev",
      models: ["flux", "flux-fast"],
      under_way: 0,
      spent_today: "0.000000",
    },
    ...[
      { upstream_model: "flux/dev", models: ["flux", "flux-fast"] },
      { upstream_model: "veo", models: ["veo"] },
    ].map((each) => ({
      ...place,
      account: "second",
      lane: SECOND,
      under_way: 3,
      concurrency: 4,
      spent_today: "0.000000",
      ...each,
    })),
  ]);
});

test("each way has what it cost since midnight", async () => {
  const asked: number[] = [];
  const { routes } = setup({
    async spentSince(time) {
      asked.push(time);
      return [{ lane: SECOND, upstreamModel: "flux/dev", cost: micros(1_250_000) }];
    },
  });
  const spent = (await routes.list()).map(managedWayForm).map((way) => way.spent_today);
  expect([asked, spent]).toEqual([[3 * DAY_MS], ["0.000000", "1.250000", "0.000000"]]);
});

test("a running server adds rates, times and successes of all models of the way", async () => {
  const { routes } = setup({
    figures: () => ({ perMinute: 12.34, p50Ms: 1000.4 }),
    counts: {
      hourOf: (_lane, of) => (of === "flux" ? { completed: 1, failed: 0 } : { completed: 1, failed: 1 }),
    },
  });
  const [way] = (await routes.list()).map(managedWayForm);
  expect(way).toMatchObject({ per_minute: 12.3, p50_ms: 1000, completed: 2, failed: 1, success: 0.6666 });
});

test("a provider is blocked at all of its accounts, or at one, as a whole or for one model", async () => {
  expect(await setup().stateOf({ provider: FAL })).toEqual([
    "fal flux/dev blocked",
    "fal/second flux/dev blocked",
    "fal/second veo blocked",
  ]);
  expect(await setup().stateOf({ provider: FAL, account: "default" })).toEqual(["fal flux/dev blocked"]);
  const { stateOf, routes, allowed } = setup();
  expect(await stateOf({ provider: FAL, account: "second", upstreamModel: "veo" })).toEqual([
    "fal/second veo blocked",
  ]);
  expect((await routes.list()).map(({ standing }) => standing.state)).toEqual([
    "closed",
    "closed",
    "blocked",
  ]);
  await routes.allow({ provider: FAL });
  expect(allowed).toEqual(["fal/second ", "fal "]);
});

test("a block has its reason, and is no breaker", async () => {
  const [way] = await setup().routes.block({ provider: FAL }, "invoice overdue");
  expect(way && managedWayForm(way)).toMatchObject({
    ...{ breaker: "closed", state: "blocked", detail: "invoice overdue", since: 5 },
  });
});

test("what is refused or spent counts as an open breaker", () => {
  const way = {
    provider: FAL,
    lane: FIRST,
    upstreamModel: "x",
    models: [],
    underWay: 0,
    spentToday: micros(0),
  };
  const breakerOf = (state: RouteTrouble["kind"] | "half_open" | "paused") =>
    managedWayForm({ ...way, standing: { state } }).breaker;
  expect((["open", "refused", "spent", "half_open", "blocked", "paused"] as const).map(breakerOf)).toEqual([
    ...["open", "open", "open", "half_open", "closed", "closed"],
  ]);
});

test("a provider whose keys are not at hand is blocked at its customary account", async () => {
  const blocked: string[] = [];
  const { routes } = setup({ block: async ({ lane }) => void blocked.push(lane) });
  expect(await routes.block({ provider: BFL })).toEqual([]);
  expect(blocked).toEqual(["bfl"]);
});

test.each<[RouteTarget, string]>([
  [{ provider: "fall" }, 'There is no provider "fall". Did you mean "fal"?'],
  [{ provider: FAL, account: "secnd" }, 'There is no account "secnd". Did you mean "second"?'],
  [{ provider: FAL, upstreamModel: "flux/dew" }, 'There is no model "flux/dew". Did you mean "flux/dev"?'],
])("what is not there is named: %j", async (target, message) => {
  const { routes } = setup({ block: () => Promise.reject(new Error("blocked")) });
  expect(await routes.block(target).catch(String)).toBe(`AppError: ${message}`);
});

import { expect, test } from "bun:test";
import type { KeyPolicy } from "../../src/domain/access/key-policy.ts";
import type { LaneId, ProviderId } from "../../src/domain/ids.ts";
import type { Model, Route } from "../../src/domain/model/model.ts";
import type { ProviderAdapter } from "../../src/domain/ports/provider.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { explainedForm } from "../../src/domain/route-form.ts";
import { createWays } from "../../src/scheduler/routing/ways.ts";
import { createExplainRoute } from "../../src/service/explain-route.ts";
import { fakeClock, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { ACCOUNT, accountId, micros, whole } from "../helpers/store.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
const account = (lane: string): ProviderAdapter =>
  Object.assign(scriptedProvider({ id: lane.split("/")[0] as ProviderId }), { lane: lane as LaneId });
const route = (provider: string, fields: Partial<Route> = {}): Route => ({
  ...{ provider: provider as ProviderId, upstreamModel: "m" },
  ...fields,
});
const A = { lane: "a" as LaneId, upstreamModel: "m" };

/** Accounts a, b and b/two; c is switched off. */
function setup(routes: Route[], given: Partial<Model> = {}, key: KeyPolicy = {}) {
  const clock = fakeClock();
  const adapters = ["a", "b", "b/two"].map(account);
  const store = {
    ...{ troubles: async () => [], changedTroubles: async () => undefined },
    ...{ set: async () => {}, clear: async () => {} },
  };
  const ways = createWays({ adapters: () => adapters, routes: store, clock, log: silent, random: () => 0.5 });
  const model: Model = { ...MODEL, routes, ...given };
  const explain = createExplainRoute({
    catalog: { all: () => [model], validate: (_model, body) => ({ ok: true, body }) },
    routing: ways.routing,
    needsOf: (id) => (id === "c" ? ["C_KEY"] : []),
    readKey: async () => ({ policy: key, accountId: ACCOUNT }),
    prices: { rule: () => undefined },
    clock,
  });
  const ask = async (more: Partial<Parameters<typeof explain>[0]> = {}) => {
    const { ways: found, ...rest } = await explain({ model: model.id, ...more });
    return {
      ...rest,
      verdicts: found.map(({ lane, provider, verdict }) => `${lane ?? provider} ${verdict}`),
      found,
    };
  };
  return { ...ways, clock, ask, explain, model };
}

test("the chosen way, the one after it, those that could be taken and those that are off are told apart", async () => {
  const { ask } = setup([route("a"), route("b"), route("c")]);
  const { verdicts, outcome, found } = await ask();
  expect(outcome).toBe("sent");
  // The accounts of a provider take turns.
  const [own, other] = verdicts.includes("b next") ? ["b", "b/two"] : ["b/two", "b"];
  expect(new Set(verdicts)).toEqual(new Set(["a chosen", `${own} next`, `${other} standby`, "c off"]));
  expect(found.at(-1)?.why).toBe("It needs C_KEY.");
});

test("a route that cannot do the request says which field and why, and has no cost", async () => {
  const cost = { version: "1", lines: [{ sku: "x", unit: "output", unitMicros: micros(7) } as const] };
  const { explain, model } = setup([route("a", { only: { n: { maximum: 2 } }, cost }), route("b", { cost })]);
  const { ways } = explainedForm(await explain({ model: model.id, request: { n: 4 } }));
  expect((ways as object[])[0]).toEqual({
    ...{ provider: "a", account: "default", lane: "a", upstream_model: "m", verdict: "cannot", field: "n" },
    ...{ why: expect.stringContaining("2"), state: "closed" },
  });
  expect((ways as object[])[1]).toMatchObject({ cost: "0.000028" });
});

test("a way that gets no tasks says what it is, why and until when", async () => {
  const { ask, standing, clock } = setup([route("a"), route("b")]);
  for (let i = 0; i < 5; i++) standing.failed(A, "submission", "500 there");
  const { verdicts, found } = await ask();
  expect(verdicts[0]).toBe("a open");
  expect(found[0]).toMatchObject({ why: "500 there", standing: { until: clock.now() + 30_000 } });
  clock.advance(30_000);
  expect((await ask()).verdicts[0]).toBe("a chosen");
});

test("what one caller alone has met keeps no request of others away once one of theirs was served, and is told", async () => {
  const { ask, standing } = setup([route("a"), route("b")]);
  for (let i = 0; i < 5; i++) standing.failed({ ...A, accountId: ACCOUNT }, "submission", "500 there");
  const why = `500 there, so far for account ${ACCOUNT} alone`;
  const seen = async (more: object) => {
    const { verdicts, found } = await ask(more);
    return [verdicts[0], found[0]?.standing.state, found[0]?.why];
  };
  // There may be no other caller.
  for (const asked of [{ key: "k" }, {}]) expect(await seen(asked)).toEqual(["a open", "open", why]);
  standing.worked({ ...A, accountId: accountId(2) }, "submission");
  expect(await seen({ key: "k" })).toEqual(["a open", "open", why]);
  expect(await seen({})).toEqual(["a chosen", "closed", why]);
});

test("a request waits for a way that is open or blocked, and is refused where only the operator can help", async () => {
  const { ask, standing, pace } = setup([route("a")]);
  pace.slow(whole(A.lane), 5_000);
  expect(await ask()).toMatchObject({ outcome: "waits", verdicts: ["a paused"] });
  await standing.block(A, "by hand");
  expect(await ask()).toMatchObject({ outcome: "waits", verdicts: ["a blocked"] });
  await standing.allow(A);
  standing.refused(A, "submission", { kind: "spent", detail: "402" });
  expect(await ask()).toMatchObject({ outcome: "refused", verdicts: ["a spent"] });
  expect(await setup([route("c")]).ask()).toMatchObject({ outcome: "refused", verdicts: ["c off"] });
});

test("the policy is the request's, else the key's, else the model's, else ordered", async () => {
  const routes = [route("a"), route("b")];
  const { ask } = setup(routes, { routePolicy: "weighted" }, { routePolicy: "fastest" });
  const from = async (more: object) => {
    const { policy, policyFrom } = await ask(more);
    return [policy, policyFrom];
  };
  expect(await from({ policy: "cheapest", key: "k" })).toEqual(["cheapest", "request"]);
  expect(await from({ key: "k" })).toEqual(["fastest", "key"]);
  expect(await from({})).toEqual(["weighted", "model"]);
  const { policy, policyFrom } = await setup(routes).ask();
  expect([policy, policyFrom]).toEqual(["ordered", "default"]);
});

test("an operator may name a route that the key may not, and the others were not asked for", async () => {
  const { ask } = setup([route("a"), route("b")]);
  const { verdicts } = await ask({ route: "b/two", key: "k" });
  expect(verdicts).toEqual(["a not_asked_for", "b/two chosen"]);
});

test("asking changes nothing of what is chosen for tasks", async () => {
  const { ask, loads } = setup([route("a")]);
  await ask();
  expect(loads.share(A.lane)).toBe(0);
});

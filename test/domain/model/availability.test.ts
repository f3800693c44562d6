import { expect, test } from "bun:test";
import type { LaneId, ProviderId } from "../../../src/domain/ids.ts";
import { isAvailable, needsText, routeStates } from "../../../src/domain/model/availability.ts";
import { managedModelForm } from "../../../src/domain/model/model-form.ts";
import { type RouteTrouble, WHOLE_ACCOUNT } from "../../../src/domain/ports/route-store.ts";
import { MODEL } from "../../helpers/engine.ts";

const states = (...needs: string[][]) => {
  const routes = needs.map((_, i) => ({ provider: `p${i}` as ProviderId, upstreamModel: "u" }));
  return routeStates({ ...MODEL, routes }, (provider) => needs[Number(provider.slice(1))] ?? []);
};

test("a model is available when one of its routes needs nothing", () => {
  expect(isAvailable(states(["A_KEY"], []))).toBe(true);
  expect(isAvailable(states(["A_KEY"], ["B_KEY"]))).toBe(false);
  expect(isAvailable(states())).toBe(false);
});

test("an operator is told of each route whether it can be taken, and what it does not do", () => {
  const limits = { modes: ["text-to-image"], only: { n: { maximum: 2 } } };
  const provider = "p" as ProviderId;
  const routes = routeStates(
    {
      ...MODEL,
      routes: [
        { provider, upstreamModel: "u", ...limits },
        { provider, upstreamModel: "v" },
      ],
    },
    () => ["A_KEY"],
  );
  expect(managedModelForm({ model: MODEL, terms: {}, routes }).routes).toEqual([
    { provider, upstream_model: "u", available: false, needs: ["A_KEY"], ...limits },
    { provider, upstream_model: "v", available: false, needs: ["A_KEY"] },
  ]);
});

test.each([
  [[["A_KEY"]], "A_KEY"],
  [[["A_KEY"], ["B_KEY"]], "A_KEY or B_KEY"],
  [[["A_KEY", "A_REGION"], ["B_KEY"]], "A_KEY and A_REGION or B_KEY"],
  [[["A_KEY"], ["A_KEY"]], "A_KEY"],
  [[[]], ""],
])("what %j need is one of them", (needs, text) => {
  expect(needsText(states(...needs))).toBe(text);
});

const FAL = "fal" as ProviderId;
const [FIRST, SECOND, GONE] = ["fal", "fal/second", "fal/gone"] as LaneId[] as [LaneId, LaneId, LaneId];
const trouble = (lane: LaneId, fields: Partial<RouteTrouble> = {}): RouteTrouble => ({
  ...{ lane, upstreamModel: "u", kind: "refused", detail: `${lane} says no`, since: 5_000, times: 1 },
  ...fields,
});
const formOf = (troubles: readonly RouteTrouble[]) => {
  const model = { ...MODEL, routes: [{ provider: FAL, upstreamModel: "u" }] };
  const routes = routeStates(model, () => [], { troubles, lanesOf: () => [FIRST, SECOND], now: 10_000 });
  const [form] = managedModelForm({ model, terms: {}, routes }).routes as Record<string, unknown>[];
  const { refused, refused_since, shut, troubles: shown } = form ?? {};
  return { refused, refused_since, shut, shown };
};

test("a route is refused where every account that is switched on refuses it", () => {
  expect(formOf([trouble(SECOND), trouble(FIRST, { upstreamModel: WHOLE_ACCOUNT })])).toMatchObject({
    refused: "fal says no",
    refused_since: 5,
    shut: true,
  });
  expect(formOf([trouble(SECOND), trouble(GONE)])).toEqual({
    refused: undefined,
    refused_since: undefined,
    shut: false,
    shown: [{ account: SECOND, state: "refused", detail: "fal/second says no", since: 5 }],
  });
});

test("what is open, spent or blocked is not refused, and is told as what it is", () => {
  const { refused, shut, shown } = formOf([
    trouble(FIRST, { kind: "open", until: 12_500 }),
    trouble(SECOND, { kind: "spent", until: 9_000 }),
    trouble(SECOND, { kind: "blocked", upstreamModel: WHOLE_ACCOUNT, detail: "by hand" }),
    trouble(SECOND, { upstreamModel: "another" }),
  ]);
  expect([refused, shut]).toEqual([undefined, true]);
  expect(shown).toEqual([
    { account: FIRST, state: "open", detail: "fal says no", since: 5, until: 13 },
    { account: SECOND, state: "blocked", detail: "by hand", since: 5 },
  ]);
});

test("a route whose time has come is tried by one task", () => {
  expect(formOf([trouble(FIRST, { kind: "open", until: 10_000 })]).shown).toMatchObject([
    { account: FIRST, state: "half_open" },
  ]);
});

import { expect, test } from "bun:test";
import type { ProviderId } from "../../../src/domain/ids.ts";
import { isAvailable, needsText, routeStates } from "../../../src/domain/model/availability.ts";
import { managedModelForm } from "../../../src/domain/model/model-form.ts";
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

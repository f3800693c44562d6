import { expect, test } from "bun:test";
import type { ProviderId } from "../../../src/domain/ids.ts";
import { isAvailable, needsText, routeStates } from "../../../src/domain/model/availability.ts";
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

test.each([
  [[["A_KEY"]], "A_KEY"],
  [[["A_KEY"], ["B_KEY"]], "A_KEY or B_KEY"],
  [[["A_KEY", "A_REGION"], ["B_KEY"]], "A_KEY and A_REGION or B_KEY"],
  [[["A_KEY"], ["A_KEY"]], "A_KEY"],
  [[[]], ""],
])("what %j need is one of them", (needs, text) => {
  expect(needsText(states(...needs))).toBe(text);
});

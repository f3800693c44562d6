import { expect, test } from "bun:test";
import { modelFields, modelRow } from "../../../cli/format/model-view.ts";
import type { JsonObject } from "../../../src/domain/json.ts";

const model = (...routes: JsonObject[]): JsonObject => ({
  ...{
    id: "flux",
    kind: "image",
    name: "Flux",
    modes: [],
    available: true,
    price: { currency: "USD", lines: [] },
  },
  routes: routes.map((route) => ({ upstream_model: "flux-dev", needs: [], ...route })),
});
const SECOND = { account: "fal/second", state: "half_open", detail: "500" };
const FIRST = { account: "fal", state: "refused", detail: "401" };
const statusOf = (...routes: JsonObject[]) => modelRow(model(...routes)).at(-1);

test("a model is ready while one account of each route gets tasks", () => {
  expect(statusOf({ provider: "fal", shut: false, troubles: [FIRST] })).toBe("ready");
});

test("the status says of each route that no account does what is in the way there", () => {
  expect(
    statusOf(
      { provider: "fal", shut: true, troubles: [FIRST] },
      { provider: "bfl", shut: true, troubles: [{ account: "bfl", state: "blocked" }] },
    ),
  ).toBe("refused by fal, blocked at bfl");
  expect(statusOf({ provider: "fal", shut: true, troubles: [FIRST, SECOND] })).toBe(
    "refused or half open at fal",
  );
});

test("a route names the accounts that get none of its tasks", () => {
  const fields = modelFields(model({ provider: "fal", shut: true, troubles: [FIRST, SECOND] }));
  expect(fields.find(([name]) => name === "route")?.[1]).toBe(
    "fal flux-dev, refused: 401, fal/second half open: 500",
  );
});

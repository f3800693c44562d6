import { describe, expect, test } from "bun:test";
import type { KeyPolicy } from "../../src/domain/access/key-policy.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { LaneId, ProviderId } from "../../src/domain/ids.ts";
import type { Model } from "../../src/domain/model/model.ts";
import { type AskedRouting, readRouting } from "../../src/service/routing-wish.ts";
import { MODEL } from "../helpers/engine.ts";
import { ACCOUNT, keyId } from "../helpers/store.ts";

const FAL = "fal" as ProviderId;
const model: Model = {
  ...MODEL,
  routes: [
    { provider: FAL, upstreamModel: "fal-ai/flux:dev" },
    { provider: "bfl" as ProviderId, upstreamModel: "flux", account: "bfl/eu" as LaneId },
  ],
};

function read(asked: AskedRouting | undefined, policy: KeyPolicy = { namedRoutes: "allowed" }) {
  const key = { accountId: ACCOUNT, keyId: keyId(1), keyName: "key", policy, priceMultiplier: 1_000_000 };
  try {
    return readRouting(asked, key, model);
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

test("a request that says nothing, with a key that says nothing, leaves it to the model", () => {
  expect(read(undefined)).toBeUndefined();
  expect(read({})).toBeUndefined();
});

test("what a request says counts before what its key says", () => {
  const key: KeyPolicy = { routePolicy: "fastest" };
  expect(read(undefined, key)).toEqual({ policy: "fastest", route: undefined });
  expect(read({ policy: "cheapest" }, key)).toEqual({ policy: "cheapest", route: undefined });
});

test("an unknown policy is told with those there are", () => {
  for (const policy of ["", "Cheapest", "cheapest, fastest"])
    expect(read({ policy })).toBe(
      `invalid_request: X-Route-Policy must be one of ordered, weighted, cheapest, fastest, least_busy, got "${policy}".`,
    );
});

describe("a named route", () => {
  test.each([
    ["fal", { provider: FAL }],
    ["fal/second", { provider: FAL, account: "fal/second" as LaneId }],
    ["fal:fal-ai/flux:dev", { provider: FAL, upstreamModel: "fal-ai/flux:dev" }],
    ["bfl/eu:flux", { provider: "bfl" as ProviderId, account: "bfl/eu" as LaneId, upstreamModel: "flux" }],
    ["bfl", { provider: "bfl" as ProviderId }],
  ])("is read: %s", (route, meant) => {
    expect(read({ route })).toEqual({
      policy: undefined,
      route: { account: undefined, upstreamModel: undefined, ...meant },
    });
  });

  test.each(["", ":", "/", "openai", "fal:other", "bfl/us", "bfl/us:flux", "fal/a/b", "FAL"])(
    "that the model does not have is told with those it has: %p",
    (route) => {
      expect(read({ route })).toBe(
        `invalid_request: X-Route names "${route}", and the model "${MODEL.id}" has no such route that is switched on. Its routes: fal, fal:fal-ai/flux:dev, bfl, bfl:flux; an account as fal/NAME.`,
      );
    },
  );

  test("is not for a key that may name none, which learns of no routes", () => {
    for (const route of ["fal", "openai"])
      expect(read({ route }, {})).toBe(
        "permission_denied: This API key may not choose its route; leave X-Route out.",
      );
  });
});

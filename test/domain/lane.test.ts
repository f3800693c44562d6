import { expect, test } from "bun:test";
import type { ProviderId } from "../../src/domain/ids.ts";
import { laneOf, providerOf } from "../../src/domain/lane.ts";

const BFL = "bfl" as ProviderId;

test("the lane of the default account is its provider's id, as it was before there were others", () => {
  expect([laneOf(BFL, "default"), laneOf(BFL, "eu")].map(String)).toEqual(["bfl", "bfl/eu"]);
  expect(providerOf(laneOf(BFL, "default"))).toBe(BFL);
  expect(providerOf(laneOf(BFL, "eu"))).toBe(BFL);
});

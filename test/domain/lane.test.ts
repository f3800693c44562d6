import { describe, expect, test } from "bun:test";
import type { ProviderId } from "../../src/domain/ids.ts";
import { type LaneRoom, laneOf, providerOf, roomiest } from "../../src/domain/lane.ts";

const BFL = "bfl" as ProviderId;

test("the lane of the default account is its provider's id, as it was before there were others", () => {
  expect([laneOf(BFL, "default"), laneOf(BFL, "eu")].map(String)).toEqual(["bfl", "bfl/eu"]);
  expect(providerOf(laneOf(BFL, "default"))).toBe(BFL);
  expect(providerOf(laneOf(BFL, "eu"))).toBe(BFL);
});

describe("the roomiest account", () => {
  const room = (name: string, fields: Partial<LaneRoom> = {}): LaneRoom => ({
    ...{ lane: laneOf(BFL, name), capacity: 10, load: 0, isSlowed: false },
    ...fields,
  });
  const named = (...lanes: LaneRoom[]) => String(roomiest(lanes));

  test("has the least to do for its size", () => {
    expect(named(room("a", { load: 1 }), room("b"))).toBe("bfl/b");
    expect(named(room("a", { load: 2, capacity: 3 }), room("b", { load: 4 }))).toBe("bfl/b");
  });

  test("is the earlier one of equals", () => {
    expect(named(room("a"), room("b"))).toBe("bfl/a");
  });

  test("is never one that is slowed while another is not, however full", () => {
    expect(named(room("a", { isSlowed: true }), room("b", { load: 90 }))).toBe("bfl/b");
    expect(named(room("a", { isSlowed: true, load: 1 }), room("b", { isSlowed: true }))).toBe("bfl/b");
  });

  test("does not exist where there is no account", () => {
    expect(roomiest([])).toBeUndefined();
  });
});

import { expect, test } from "bun:test";
import type { LaneId, ModelId } from "../../src/domain/ids.ts";
import { createDurations } from "../../src/scheduler/routing/durations.ts";

const HOUR = 3_600_000;
const [A, B] = ["a", "b"] as unknown as [LaneId, LaneId];
const made = { model: "one" as ModelId, mode: "text-to-image" };

test("half of the latest tasks of a way is told anew after each, and without those of an hour ago", () => {
  let now = 0;
  const durations = createDurations({ clock: { elapsed: () => now } });
  const half = () => durations.median(A, "up", made);
  const took = (...all: number[]) => all.map((ms) => durations.took(A, "up", made, ms));
  took(10, 20);
  expect(half()).toBeUndefined();
  took(30);
  expect([
    half(),
    durations.median(B, "up", made),
    durations.median(A, "up", { ...made, mode: "edit" }),
  ]).toEqual([20, undefined, undefined]);
  now = HOUR / 2;
  took(100, 110, 120, 130);
  expect(half()).toBe(100);
  now = HOUR + 1;
  expect(half()).toBe(120);
  now = 2 * HOUR;
  expect(half()).toBeUndefined();
});

import { describe, expect, test } from "bun:test";
import {
  isTooLong,
  nextPressure,
  pressedRetrySec,
  queueRetrySec,
  refusedShare,
} from "../../src/domain/shedding.ts";

const CALM = { lagMs: 0, mostLagMs: 100, heldBytes: 1, mostHeldBytes: 1000 };

/** The pressure after so many looks. */
function pressureAfter(looks: number, load: Partial<typeof CALM>, from = 0): number {
  let pressure = from;
  for (let i = 0; i < looks; i++) pressure = nextPressure(pressure, { ...CALM, ...load });
  return pressure;
}

describe("pressure", () => {
  test("stays at nothing up to the limits", () => {
    expect(pressureAfter(100, { lagMs: 100, heldBytes: 1000 })).toBe(0);
  });

  test("grows with the lag, by steps that are bounded, up to a most", () => {
    expect(pressureAfter(1, { lagMs: 200 })).toBeCloseTo(0.1);
    expect(pressureAfter(1, { lagMs: 100_000 })).toBeCloseTo(0.2);
    expect(pressureAfter(1_000, { lagMs: 101 })).toBe(3);
  });

  test("is gone three seconds after its cause, from the most there is", () => {
    expect(pressureAfter(29, {}, 3)).toBeGreaterThan(0);
    expect(pressureAfter(30, {}, 3)).toBe(0);
  });

  test("of memory comes at once: creates above the limit, lists at 10 % more, reads at 20 %", () => {
    expect(pressureAfter(1, { heldBytes: 1001 })).toBeCloseTo(1.01);
    expect(pressureAfter(1, { heldBytes: 1100 })).toBeCloseTo(2);
    expect(pressureAfter(1, { heldBytes: 2000 })).toBe(3);
  });

  test("refuses all creates before the first list, and all lists before the first read", () => {
    const shares = (pressure: number) =>
      (["creates", "lists", "reads"] as const).map((each) => refusedShare(pressure, each));
    expect([0, 0.5, 1, 1.5, 2, 2.5, 3].map(shares)).toEqual([
      [0, 0, 0],
      [0.5, 0, 0],
      [1, 0, 0],
      [1, 0.5, 0],
      [1, 1, 0],
      [1, 1, 0.5],
      [1, 1, 1],
    ]);
  });
});

describe("an account's queue is too long", () => {
  const queue = { count: 10, perSecond: 5, waitedMs: 0, mostWaitMs: 2_000 };

  test("when its oldest task has waited too long, whatever is known of the lane", () => {
    for (const perSecond of [undefined, 0, 1_000]) {
      expect(isTooLong({ ...queue, perSecond, waitedMs: 2_000 })).toBe(false);
      expect(isTooLong({ ...queue, perSecond, waitedMs: 2_001 })).toBe(true);
    }
  });

  test("when the lane cannot begin its tasks in time, before the first of them is old", () => {
    expect(isTooLong(queue)).toBe(false);
    expect(isTooLong({ ...queue, count: 11 })).toBe(true);
  });
});

describe("Retry-After", () => {
  const queue = { count: 100, perSecond: 5, waitedMs: 20_000, mostWaitMs: 10_000 };

  test("of a long queue is the time in which what is too much of it begins", () => {
    expect(queueRetrySec(queue)).toBe(10);
    expect(queueRetrySec({ ...queue, waitedMs: 1 })).toBe(10);
    expect(queueRetrySec({ ...queue, perSecond: 50 })).toBe(1);
    expect(queueRetrySec({ ...queue, count: 51, waitedMs: 10_001 })).toBe(1);
  });

  test("is bounded where a queue hardly moves, and the usual where nobody knows how it does", () => {
    expect(queueRetrySec({ ...queue, perSecond: 0.001 })).toBe(300);
    expect([0, undefined].map((perSecond) => queueRetrySec({ ...queue, perSecond }))).toEqual([30, 30]);
  });

  test("of a pressed process is as long again as it has been pressed, from 1 s to 30 s", () => {
    expect([0, 1_000, 1_001, 60_000].map(pressedRetrySec)).toEqual([1, 1, 2, 30]);
  });
});

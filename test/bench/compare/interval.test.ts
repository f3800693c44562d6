import { expect, test } from "bun:test";
import { medianInterval } from "./interval.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

test("fewer than six values have no interval", () => {
  expect(medianInterval([])).toBeUndefined();
  expect(medianInterval(upTo(5))).toBeUndefined();
});

// Of six fair coins, all fall on one side twice in 64 times; of nine, at least eight do 20 times in 512.
test.each([
  [6, { median: 3.5, low: 1, high: 6, confidence: 1 - 2 / 64 }],
  [8, { median: 4.5, low: 1, high: 8, confidence: 1 - 2 / 256 }],
  [9, { median: 5, low: 2, high: 8, confidence: 1 - 20 / 512 }],
  [12, { median: 6.5, low: 3, high: 10, confidence: 1 - (2 * (1 + 12 + 66)) / 4096 }],
])("the interval of %p values leaves out as many as 95 %% allow", (count, expected) => {
  expect(medianInterval(upTo(count))).toEqual(expected);
});

test("the order of the values does not matter, and one far off does not move the interval of nine", () => {
  expect(medianInterval([9, 2, 4, 1, 3, 8, 6, 7, 5])).toEqual(medianInterval(upTo(9)));
  expect(medianInterval([1, 2, 3, 4, 5, 6, 7, 8, 1_000])).toEqual(medianInterval(upTo(9)));
});

test("it misses the true median of a lopsided spread as seldom as it says", () => {
  const draw = randomOf(7);
  const samples = 4_000;
  let missed = 0;
  for (let i = 0; i < samples; i++) {
    // The median of a uniform number is a half, and stays in its place when all are bent the same way.
    const values = Array.from({ length: 9 }, () => draw() ** 5);
    const { low, high } = medianInterval(values) ?? { low: Number.NaN, high: Number.NaN };
    if (!(low <= 0.5 ** 5 && 0.5 ** 5 <= high)) missed += 1;
  }
  // 20 of 512 are expected; the bounds are four standard deviations away.
  expect(missed / samples).toBeGreaterThan(0.027);
  expect(missed / samples).toBeLessThan(0.052);
});

/** Numbers below 1 that are the same in each run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

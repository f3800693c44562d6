import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  formatMultiplier,
  isMultiplier,
  MAX_MULTIPLIER,
  parseMultiplier,
} from "../../../src/domain/money/multiplier.ts";

test.each([
  ["1", 1_000_000],
  ["1.25", 1_250_000],
  ["0.000001", 1],
  ["0.5", 500_000],
  ["1000", MAX_MULTIPLIER],
  ["1.250000", 1_250_000],
])("%s is %d millionths", (text, millionths) => {
  expect(parseMultiplier(text)).toBe(millionths);
});

test.each([
  "",
  "0",
  "0.0",
  "-1",
  "+1",
  "1.",
  ".5",
  "1.0000001",
  "1000.000001",
  "10000",
  "1e3",
  " 1",
  "1,25",
  "x",
])("%j is no multiplier", (text) => {
  expect(parseMultiplier(text)).toBeUndefined();
});

test.each([0, -1, 1.5, Number.NaN, MAX_MULTIPLIER + 1])("%d millionths are no multiplier", (millionths) => {
  expect(isMultiplier(millionths)).toBe(false);
});

test("what is formatted is read as the same, and has no zeros at its end", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: MAX_MULTIPLIER }), (millionths) => {
      const text = formatMultiplier(millionths);
      expect(parseMultiplier(text)).toBe(millionths);
      expect(text).not.toMatch(/\.\d*0$|\.$/);
    }),
  );
});

import { describe, expect, test } from "bun:test";
import { PRICE_UNITS, type PriceUnit, unitFacts, unitsTold } from "../../../src/domain/money/price-units.ts";

describe("a request tells", () => {
  test.each<[PriceUnit, object, number | undefined]>([
    ["output", {}, 1],
    ["second", { duration: 5 }, 5],
    ["second", { duration: "5" }, undefined],
    ["second", {}, undefined],
    ["second", { duration: 0.001 }, 0.001],
    ["second", { duration: 0.0009 }, undefined],
    ["second", { duration: 0 }, undefined],
    ["second", { duration: -1 }, undefined],
    ["second", { duration: 100_001 }, undefined],
    ["second", { duration: 1e300 }, undefined],
    ["megapixel", { size: "1024x1024" }, 1],
    ["megapixel", { size: "1025x1024" }, 2],
    ["megapixel", { size: "auto" }, undefined],
    ["input_token", { duration: 5, size: "1024x1024" }, undefined],
    ["output_token", { duration: 5, size: "1024x1024" }, undefined],
  ])("of %s with %j: %p", (unit, parameters, units) => {
    expect(unitsTold(unit, { ...parameters })).toBe(units);
  });
});

test("what was delivered has a count for each output, or one that the upstream reports", () => {
  const output = { width: 1024, height: 1025, durationMs: 4_001 };
  const usage = { inputTokens: 7, outputTokens: 9 };
  const counts = PRICE_UNITS.map((unit) => {
    const { measured, reported } = unitFacts(unit);
    return [unit, measured?.(output), reported?.(usage)];
  });
  expect(counts).toEqual([
    ["output", 1, undefined],
    ["second", 5, undefined],
    ["megapixel", 2, undefined],
    ["input_token", undefined, 7],
    ["output_token", undefined, 9],
  ]);
});

test("a unit that a request need not tell has a flag for the most there can be", () => {
  for (const unit of PRICE_UNITS) {
    expect([unit, unitFacts(unit).most === undefined]).toEqual([unit, unitsTold(unit, {}) !== undefined]);
  }
});

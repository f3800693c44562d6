import { expect, test } from "bun:test";
import type { PriceLine, PriceRule } from "../../../src/domain/model/model.ts";
import { toMicros } from "../../../src/domain/money/money.ts";
import { pricesAnything, unpricedCase } from "../../../src/domain/money/price-coverage.ts";

const rule = (...conditions: PriceLine["when"][]): PriceRule => ({
  version: "1",
  lines: conditions.map((when, i) => ({ sku: String(i), unit: "output", unitMicros: toMicros(1), when })),
});
const schema = {
  required: ["resolution"],
  properties: {
    resolution: { enum: ["1K", "2K"] },
    audio: { type: "boolean" },
    quality: { enum: ["low", "high"], default: "low" },
    duration: { type: "integer" },
    style: { type: "string" },
    fixed: { const: "x", default: "x" },
  },
};

test("a line without a condition prices everything", () => {
  expect(unpricedCase(schema, rule({ resolution: "1K" }, undefined))).toBeUndefined();
});

test("a table over every value prices everything, and one that lacks a row does not", () => {
  const full = rule(
    { resolution: "1K", quality: "low" },
    { resolution: "1K", quality: "high" },
    { resolution: "2K" },
  );
  expect(unpricedCase(schema, full)).toBeUndefined();
  expect(unpricedCase(schema, rule({ resolution: "1K" }, { resolution: "2K", quality: "low" }))).toEqual({
    resolution: "2K",
    quality: "high",
  });
});

test("a parameter that may be absent and has no default must be priced without it", () => {
  expect(unpricedCase(schema, rule({ audio: true }, { audio: false }))).toEqual({});
  expect(unpricedCase(schema, rule({ quality: ["low", "high"] }))).toBeUndefined();
  expect(unpricedCase(schema, rule({ fixed: "x" }))).toBeUndefined();
});

test("a parameter that can have any value must be priced for those no line names", () => {
  expect(unpricedCase(schema, rule({ duration: 5 }, { duration: 10 }))).toEqual({ duration: 11 });
  expect(unpricedCase(schema, rule({ style: "a" }))).toEqual({ style: "other than a" });
});

test("a short range of whole numbers is looked at in full, and nothing outside it", () => {
  const ranged = { properties: { duration: { type: "integer", minimum: 3, maximum: 6, default: 3 } } };
  expect(unpricedCase(ranged, rule({ duration: [3, 4, 6] }))).toEqual({ duration: 5 });
  expect(unpricedCase(ranged, rule({ duration: [3, 4, 5, 6] }))).toBeUndefined();
});

test("what is counted must be told by the request, unless the line says how many there are at most", () => {
  const counted = (unit: PriceLine["unit"], most?: number): PriceRule => ({
    version: "1",
    lines: [{ sku: "s", unit, unitMicros: toMicros(1), most }],
  });
  expect(unpricedCase(schema, counted("second"))).toEqual({});
  expect(unpricedCase({ ...schema, required: ["duration"] }, counted("second"))).toBeUndefined();
  expect(unpricedCase(schema, counted("second", 10))).toBeUndefined();
  const sized = {
    properties: { size: { type: "string", default: "auto", examples: ["1024x1024", "auto"] } },
  };
  expect(unpricedCase(sized, counted("megapixel"))).toEqual({ size: "auto" });
  expect(unpricedCase(sized, counted("megapixel", 4))).toBeUndefined();
});

test("a rule that prices nothing is told from one that prices something", () => {
  expect(pricesAnything(schema, rule({ resolution: "2K", quality: "high" }))).toBe(true);
  expect(pricesAnything(schema, rule({ resolution: "4K" }))).toBe(false);
});

test("a rule with more cases than can be looked at is refused, not believed", () => {
  const many = Array.from({ length: 20 }, (_, i) => `p${i}`);
  const wide = { properties: Object.fromEntries(many.map((name) => [name, { type: "boolean" }])) };
  expect(() => unpricedCase(wide, rule(Object.fromEntries(many.map((name) => [name, true]))))).toThrow(
    RangeError,
  );
});

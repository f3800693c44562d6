import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  addSums,
  formatAmount,
  parseAmount,
  parseSum,
  readAmount,
  subtractSum,
  toMicros,
  toSum,
} from "../../../src/domain/money/money.ts";

test("an amount is written with exactly six places", () => {
  expect(formatAmount(toMicros(40_000))).toBe("0.040000");
  expect(formatAmount(toMicros(0))).toBe("0.000000");
  expect(formatAmount(toMicros(-1_500_000))).toBe("-1.500000");
  expect(formatAmount(toMicros(12_345_678_901))).toBe("12345.678901");
});

test("what is written is read back as the same amount", () => {
  fc.assert(
    fc.property(fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }), (value) => {
      expect(parseAmount(formatAmount(toMicros(value)))).toBe(toMicros(value));
    }),
  );
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      expect(readAmount(formatAmount(toMicros(value)))).toBe(toMicros(value));
    }),
  );
});

test("shorter forms are read, and anything but a decimal with at most six places is not", () => {
  expect(parseAmount("5")).toBe(toMicros(5_000_000));
  expect(parseAmount("5.00")).toBe(toMicros(5_000_000));
  expect(parseAmount("0.000001")).toBe(toMicros(1));
  for (const text of ["", ".5", "5.", "1e3", "+1", "1,5", "0.0000001", " 1", "NaN", "0x10", "1234567890"]) {
    expect(parseAmount(text)).toBeUndefined();
  }
});

test("of sums, only what can be counted exactly is read", () => {
  expect(readAmount("9007199254.740991")).toBe(toMicros(Number.MAX_SAFE_INTEGER));
  for (const text of ["9007199254.740992", "12345678901.000000", "1e9"])
    expect(readAmount(text)).toBeUndefined();
});

test("a fraction of a micro-unit is refused", () => {
  expect(() => toMicros(0.5)).toThrow(RangeError);
  expect(() => toMicros(Number.NaN)).toThrow(RangeError);
  expect(() => toMicros(2 ** 53)).toThrow(RangeError);
});

test("sums are exact beyond what Micros can count, and are Micros again below", () => {
  const most = toMicros(Number.MAX_SAFE_INTEGER);
  const sum = addSums([most, most, toMicros(3)]);
  expect(sum).toBe(18_014_398_509_481_985n);
  expect(formatAmount(sum)).toBe("18014398509.481985");
  expect(parseSum(formatAmount(sum))).toBe(sum);
  expect(subtractSum(sum, addSums([most, toMicros(3)]))).toBe(most);
  expect(subtractSum(toMicros(2), toMicros(5))).toBe(toMicros(-3));
  expect([toSum("-0"), parseSum("-0.500000"), parseSum("0.040000")]).toEqual([0, -500_000, 40_000] as never);
  for (const text of ["", "1", "1.5", "1e3", "NaN"]) expect(parseSum(text)).toBeUndefined();
});

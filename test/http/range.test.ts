import { expect, test } from "bun:test";
import { parseRange } from "../../src/http/assets/routes.ts";

test("a range is cut to the file, counted from the end when it has no start", () => {
  expect(parseRange("bytes=0-9", 100)).toEqual({ start: 0, end: 9 });
  expect(parseRange("bytes=90-", 100)).toEqual({ start: 90, end: 99 });
  expect(parseRange("bytes=-10", 100)).toEqual({ start: 90, end: 99 });
  expect(parseRange("bytes=50-500", 100)).toEqual({ start: 50, end: 99 });
  expect(parseRange("bytes=-500", 100)).toEqual({ start: 0, end: 99 });
});

test("a range that starts after the end cannot be satisfied", () => {
  expect(parseRange("bytes=100-", 100)).toBe("unsatisfiable");
  expect(parseRange("bytes=-0", 100)).toBe("unsatisfiable");
  expect(parseRange("bytes=0-", 0)).toBe("unsatisfiable");
});

test("several ranges, other units and malformed headers ask for the whole file", () => {
  for (const header of ["bytes=0-1,3-4", "items=0-1", "bytes=-", "bytes=9-1", "bytes=a-b", "bytes 0-1", ""]) {
    expect(parseRange(header, 100)).toBeUndefined();
  }
});

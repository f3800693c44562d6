import { expect, test } from "bun:test";
import { createLatest } from "../../src/toolkit/latest.ts";

const keysIn = (latest: ReturnType<typeof createLatest<number, string>>) =>
  Array.from({ length: 12 }, (_, key) => key).filter((key) => latest.has(key));

test("the latest so many are kept, and each new one takes the place of the oldest", () => {
  const latest = createLatest<number, string>(3);
  for (let key = 0; key < 8; key++) latest.add(key, `value ${key}`);
  expect(keysIn(latest)).toEqual([5, 6, 7]);
  expect(latest.get(6)).toBe("value 6");
});

test("one that is added again has its new value and its old place, and one that is forgotten leaves room", () => {
  const latest = createLatest<number, string>(3);
  for (let key = 0; key < 3; key++) latest.add(key, "first");
  latest.add(0, "second");
  expect(latest.get(0)).toBe("second");
  latest.add(3, "first");
  expect(keysIn(latest)).toEqual([1, 2, 3]);
  latest.forget(2);
  latest.add(4, "first");
  latest.add(5, "first");
  expect(keysIn(latest)).toEqual([3, 4, 5]);
});

test("what was forgotten and comes again is not displaced with the place that it had", () => {
  const latest = createLatest<number, string>(3);
  latest.add(0, "first");
  latest.forgetAll();
  for (const key of [1, 0]) latest.add(key, "second");
  latest.add(2, "second");
  expect(keysIn(latest)).toEqual([0, 1, 2]);
  latest.add(3, "second");
  expect(keysIn(latest)).toEqual([0, 2, 3]);
});

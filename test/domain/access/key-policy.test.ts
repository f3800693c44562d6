import { expect, test } from "bun:test";
import { changePolicy, type KeyPolicy } from "../../../src/domain/access/key-policy.ts";

test("a change replaces what it gives, lifts what it sets to null and leaves the rest", () => {
  const before: KeyPolicy = { models: ["a"], concurrency: 4, requestsPerMinute: 60 };
  const change = { models: ["b"], concurrency: null, requestsPerMinute: undefined, syncWaitSec: 5 };
  expect(changePolicy(before, change)).toEqual({ models: ["b"], requestsPerMinute: 60, syncWaitSec: 5 });
  expect(before).toEqual({ models: ["a"], concurrency: 4, requestsPerMinute: 60 });
  expect(
    Object.keys(changePolicy(before, { models: null, concurrency: null, requestsPerMinute: null })),
  ).toEqual([]);
});

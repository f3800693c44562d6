import { expect, test } from "bun:test";
import fc from "fast-check";
import { CALLBACK_DELAYS_MS } from "../../../src/domain/limits.ts";
import { callbackDelayMs, nextPollDelayMs, retryDelayMs } from "../../../src/domain/task/backoff.ts";

const random = fc.double({ min: 0, max: 0.999999, noNaN: true });

test("the delay before a poll is between a tenth of a second and five seconds, a fifth more or less", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 9 }), random, (elapsedMs, roll) => {
      const delayMs = nextPollDelayMs(elapsedMs, roll);
      expect(delayMs).toBeGreaterThanOrEqual(80);
      expect(delayMs).toBeLessThanOrEqual(6_000);
    }),
  );
});

test("the delay after a failure doubles up to half a minute", () => {
  expect([1, 2, 3, 4, 7, 50].map((failures) => retryDelayMs(failures, 0.5))).toEqual([
    500, 1_000, 2_000, 4_000, 30_000, 30_000,
  ]);
});

test("an upstream may ask for another delay after a failure, but not for none", () => {
  expect([0, 250, 700, 90_000].map((askedMs) => retryDelayMs(3, 0.5, askedMs))).toEqual([
    500, 500, 700, 90_000,
  ]);
});

test("an upstream that asked for a short delay in vain is asked as seldom as one that asks for none", () => {
  expect([4, 5, 7].map((failures) => retryDelayMs(failures, 0.5, 0))).toEqual([500, 8_000, 30_000]);
  expect(retryDelayMs(7, 0.5, 90_000)).toBe(90_000);
});

test("a callback has four more chances after its first", () => {
  expect([1, 2, 3, 4].map((attempts) => callbackDelayMs(CALLBACK_DELAYS_MS, attempts, 0.5))).toEqual([
    5_000, 60_000, 600_000, 3_600_000,
  ]);
  expect(callbackDelayMs(CALLBACK_DELAYS_MS, 5, 0.5)).toBeUndefined();
  expect([1, 2, 3].map((attempts) => callbackDelayMs([7, 8], attempts, 0.5))).toEqual([7, 8, undefined]);
});

test("a receiver's Retry-After counts up to an hour, and never gives a sixth send", () => {
  expect(callbackDelayMs(CALLBACK_DELAYS_MS, 1, 0.5, 90_000)).toBe(90_000);
  expect(callbackDelayMs(CALLBACK_DELAYS_MS, 1, 0.5, 86_400_000)).toBe(3_600_000);
  expect(callbackDelayMs(CALLBACK_DELAYS_MS, 5, 0.5, 90_000)).toBeUndefined();
});

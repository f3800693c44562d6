import { expect, test } from "bun:test";
import { createFoundRate } from "../../src/scheduler/routing/found-rate.ts";

/** The end of ten whole seconds. */
const NOW = 9_999;

/** An account that was asked so often in each of the last ten seconds, and refuses now. */
function refused(perSecond: number) {
  const rate = createFoundRate();
  for (let second = 0; second < 10; second++)
    for (let i = 0; i < perSecond; i++) rate.take(second * 1_000 + i);
  rate.slow(NOW);
  return rate;
}

test("an account that never refuses is asked as often as there is something to ask", () => {
  const rate = createFoundRate();
  for (let i = 0; i < 10_000; i++) rate.take(i);
  expect([rate.free(10_000), rate.waitMs(10_000), rate.perMinute(10_000)]).toEqual([undefined, 0, undefined]);
});

test("a refusal halves the rate at which it was asked, and the rate grows steadily from then on", () => {
  const rate = refused(10);
  expect([NOW, NOW + 15_000, NOW + 30_000].map((now) => rate.perMinute(now))).toEqual([300, 450, 600]);
});

test("refusals of one moment count once, and later ones again", () => {
  const rate = refused(10);
  for (let i = 0; i < 50; i++) rate.slow(NOW + i * 10);
  expect(rate.perMinute(NOW)).toBe(300);
  rate.slow(25_000);
  expect(rate.perMinute(25_000)).toBeLessThan(300);
});

test("the rate never falls so low that nothing is tried", () => {
  const rate = refused(1);
  for (let i = 1; i < 100; i++) rate.slow(10_000 + i * 1_000);
  expect(rate.perMinute(109_000)).toBe(6);
  expect(rate.waitMs(120_000)).toBe(0);
});

test("an account that takes twice as much as when it refused is asked freely again", () => {
  const rate = refused(10);
  expect(rate.perMinute(NOW + 89_000)).toBeGreaterThan(1_150);
  expect(rate.perMinute(NOW + 91_000)).toBeUndefined();
});

test("an account that was hardly asked when it refused is asked freely again, too", () => {
  const rate = createFoundRate();
  rate.take(NOW);
  rate.slow(NOW);
  expect([NOW, NOW + 30_000].map((now) => rate.perMinute(now))).toEqual([6, 9]);
  expect(rate.perMinute(NOW + 61_000)).toBeUndefined();
});

test("what goes keeps to the rate", () => {
  const rate = refused(10);
  let sent = 0;
  for (let now = 10_000; now < 20_000; now += 10)
    if (rate.waitMs(now) === 0) {
      rate.take(now);
      sent += 1;
    }
  // Ten seconds that begin with 300 a minute and end with 400.
  expect(sent).toBeGreaterThan(50);
  expect(sent).toBeLessThan(65);
});

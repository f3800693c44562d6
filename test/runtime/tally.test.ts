import { expect, test } from "bun:test";
import type { ModelId, ProviderId } from "../../src/domain/ids.ts";
import type { EndedTask } from "../../src/domain/overview.ts";
import { bucketOf, DURATION_BUCKETS, quantileMs } from "../../src/runtime/duration-buckets.ts";
import { createSlidingSums } from "../../src/runtime/sliding-sums.ts";
import { createTally } from "../../src/runtime/tally.ts";
import { micros } from "../helpers/store.ts";

const EPOCH = 1_700_000_000_000;
const HOUR_MS = 3_600_000;

/** A tally whose clocks the test moves; they start half a second into a second. */
function setup() {
  let now = 7_500;
  const clock = { now: () => EPOCH + now, elapsed: () => now };
  const tally = createTally({ clock });
  return {
    tally,
    clock,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

function task(given: Partial<EndedTask> = {}): EndedTask {
  return {
    model: "fox" as ModelId,
    provider: "one" as ProviderId,
    status: "completed",
    durationMs: 1_000,
    charged: micros(5),
    ...given,
  };
}

test("requests and creates of the last minute are counted by class and by second, and older ones are not", () => {
  const { tally, pass } = setup();
  expect(tally.minute()).toEqual({
    ...{ lengthMs: 0, seconds: 0, created: 0, answeredBySecond: [], createdBySecond: [] },
    answered: { "2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0 },
  });
  tally.answered(200);
  pass(1_000);
  for (const status of [200, 304, 404, 429, 503]) tally.answered(status);
  tally.created();
  pass(2_000);
  expect(tally.minute()).toEqual({
    ...{ lengthMs: 3_000, seconds: 3, created: 1, answeredBySecond: [1, 5, 0], createdBySecond: [0, 1, 0] },
    answered: { "2xx": 2, "3xx": 1, "4xx": 2, "5xx": 1 },
  });
  pass(58_000);
  const minute = tally.minute();
  expect(minute.answered).toEqual({ "2xx": 1, "3xx": 1, "4xx": 2, "5xx": 1 });
  expect(minute.lengthMs).toBe(60_500);
  expect(minute.answeredBySecond).toHaveLength(60);
  expect(minute.seconds).toBe(61);
  pass(10 * HOUR_MS);
  expect(tally.minute().created).toBe(0);
});

test("ends of the last hour are counted by model and by provider, with what they took and cost", () => {
  const { tally, clock, pass } = setup();
  const since = clock.now();
  for (let i = 1; i <= 100; i++) tally.ended(task({ durationMs: i * 100 }));
  tally.ended(
    task({ status: "failed", durationMs: 9_000_000, charged: micros(0), provider: "two" as ProviderId }),
  );
  tally.ended(task({ model: "ant" as ModelId, status: "failed", charged: micros(0) }));
  const hour = tally.hour();
  expect(hour).toEqual({
    since,
    charged: micros(500),
    models: [
      { model: "ant" as ModelId, completed: 0, failed: 1, p50Ms: undefined, p95Ms: undefined },
      {
        model: "fox" as ModelId,
        completed: 100,
        failed: 1,
        p50Ms: expect.any(Number),
        p95Ms: expect.any(Number),
      },
    ],
    providers: [
      { provider: "one" as ProviderId, completed: 100, failed: 1 },
      { provider: "two" as ProviderId, completed: 0, failed: 1 },
    ],
    checks: [],
  });
  const fox = hour.models[1];
  expect(Math.abs((fox?.p50Ms ?? 0) / 5_000 - 1)).toBeLessThan(0.05);
  expect(Math.abs((fox?.p95Ms ?? 0) / 9_500 - 1)).toBeLessThan(0.05);

  pass(HOUR_MS);
  tally.ended(task());
  expect(tally.hour()).toMatchObject({ charged: micros(5), models: [{ completed: 1, failed: 0 }] });
  expect(clock.now() - tally.hour().since).toBeLessThanOrEqual(HOUR_MS);
  expect(clock.now() - tally.hour().since).toBeGreaterThan(HOUR_MS - 60_000);
});

test("ends of the last hour are counted by account and model together", () => {
  const { tally, pass } = setup();
  const two = "two" as ProviderId;
  tally.ended(task({ provider: two }));
  tally.ended(task({ provider: two, status: "failed" }));
  tally.ended(task({ provider: two, model: "ant" as ModelId }));
  expect(tally.hourOf(two, task().model)).toEqual({ completed: 1, failed: 1 });
  expect(tally.hourOf(two, "none" as ModelId)).toEqual({ completed: 0, failed: 0 });
  pass(HOUR_MS);
  expect(tally.hourOf(two, task().model)).toEqual({ completed: 0, failed: 0 });
});

test("ends from before the start count as long as they would have", () => {
  const { tally, clock, pass } = setup();
  const endedAt = clock.now() - 40 * 60_000;
  const since = clock.now() - HOUR_MS / 2;
  tally.recall({ since: clock.now() - HOUR_MS, tasks: [{ ...task(), endedAt }] });
  tally.recall({ since, tasks: [] });
  expect(tally.hour()).toMatchObject({ charged: micros(5), models: [{ completed: 1 }] });
  expect(clock.now() - tally.hour().since).toBeGreaterThan(HOUR_MS - 60_000);
  pass(21 * 60_000);
  expect(tally.hour()).toMatchObject({ charged: micros(0), models: [] });
});

test("a shorter recall says since when it counts", () => {
  const { tally, clock } = setup();
  const since = clock.now() - 10 * 60_000;
  tally.recall({ since, tasks: [] });
  expect(tally.hour().since).toBe(since);
});

test("sums that slide over many slots at once keep nothing of before", () => {
  let now = 0;
  const sums = createSlidingSums({ slots: 3, slotMs: 10, width: 1, elapsed: () => now });
  for (const [at, expected] of [
    [0, 1],
    [9, 2],
    [10, 3],
    [29, 4],
    [30, 3],
    [49, 3],
    [50, 3],
    [500, 1],
    [1_000_000, 1],
  ] as const) {
    now = at;
    sums.add(0, 1);
    expect([at, sums.read()[0]]).toEqual([at, expected]);
  }
  sums.add(0, 5, now - 30);
  expect(sums.read()[0]).toBe(1);
});

test("a quantile is within five percent of any duration from a millisecond to a day", () => {
  for (let ms = 1; ms < 86_400_000; ms *= 1.01) {
    const counts = new Float64Array(DURATION_BUCKETS);
    counts[bucketOf(ms)] = 1;
    const told = quantileMs(counts, 0.5) ?? Number.NaN;
    expect(Math.abs(told - ms)).toBeLessThanOrEqual(0.5 + ms * 0.045);
  }
  expect(quantileMs(new Float64Array(DURATION_BUCKETS), 0.5)).toBeUndefined();
});

test("verdicts of the last hour are counted by check, and how long they took to a twentieth", () => {
  const { tally, pass } = setup();
  for (let i = 1; i <= 100; i++)
    tally.moderated({ check: "slurs", verdict: i % 10 === 0 ? "refused" : "allowed", durationMs: i / 1_000 });
  // What cannot tell says nothing of how long a verdict takes.
  tally.moderated({ check: "vendor", verdict: "outage", durationMs: 5_000 });
  const [slurs, vendor] = tally.hour().checks;
  expect(slurs).toEqual({ check: "slurs", allowed: 90, refused: 10, outages: 0, p50Ms: expect.any(Number) });
  expect(Math.abs((slurs?.p50Ms ?? 0) / 0.05 - 1)).toBeLessThan(0.05);
  expect(vendor).toEqual({ check: "vendor", allowed: 0, refused: 0, outages: 1, p50Ms: undefined });
  pass(HOUR_MS);
  expect(tally.hour().checks).toEqual([]);
});

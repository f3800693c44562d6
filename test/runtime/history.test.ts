import { expect, test } from "bun:test";
import { MINUTE_FIGURES, type MinuteReading } from "../../src/domain/history.ts";
import type { EndedAttempt, EndedStage } from "../../src/domain/ports/tally.ts";
import { createHistory } from "../../src/runtime/history.ts";
import { lane, micros } from "../helpers/store.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const reading = (queued = 0): MinuteReading => ({
  ...{ queued, underWay: 2, callbacksOwed: 3, rssBytes: 4 },
  ...{ freeBytes: 5, databaseBytes: 6, walBytes: 7 },
});

function setup() {
  let now = 0;
  const history = createHistory(() => now);
  const pass = (ms: number) => {
    now += ms;
  };
  const stage = (name: EndedStage["stage"], durationMs: number) =>
    history.tally.stageEnded({ stage: name, lane: lane("a"), durationMs });
  const attempt = (outcome: EndedAttempt["outcome"], upstreamModel = "m") =>
    history.tally.attemptEnded({ lane: lane("a"), upstreamModel, outcome, cost: micros(0) });
  return { ...history, pass, stage, attempt };
}

test("a minute has what was counted in it and what was read at its end, and the next one begins anew", () => {
  const { tally, endMinute, read } = setup();
  for (const status of [200, 204, 304, 404, 500, 101]) tally.answered(status);
  tally.created();
  tally.lagged(2);
  tally.lagged(50);
  endMinute(MINUTE, reading(9));
  endMinute(2 * MINUTE, reading(1));
  const { at, minutes } = read(60);
  expect(at).toEqual([MINUTE, 2 * MINUTE]);
  expect(minutes).toMatchObject({
    ...{ answered_2xx: [3, 0], answered_3xx: [1, 0], answered_4xx: [1, 0], answered_5xx: [1, 0] },
    ...{ created: [1, 0], completed: [0, 0], failed: [0, 0], queued: [9, 1], under_way: [2, 2] },
    ...{ callbacks_owed: [3, 3], lag_max_ms: [50, 0], rss_bytes: [4, 4], disk_free_bytes: [5, 5] },
    ...{ data_bytes: [6, 6], wal_bytes: [7, 7] },
  });
  const [lag = 0] = minutes.lag_p95_ms;
  expect(Math.abs(lag - 50)).toBeLessThan(2.5);
  expect(read(1).at).toEqual([2 * MINUTE]);
});

test("a day of minutes is kept and not one more, however long the service runs", () => {
  const { endMinute, read } = setup();
  for (let minute = 1; minute <= 5_000; minute += 1) endMinute(minute, reading(minute));
  const { at, minutes } = read(9_999);
  expect([at.length, at[0], at.at(-1)]).toEqual([1_440, 3_561, 5_000]);
  expect(minutes.queued).toEqual(at as number[]);
  expect(Object.keys(minutes)).toEqual([...MINUTE_FIGURES]);
});

test("stages are told for an hour and a day, and forgotten then", () => {
  const { stage, pass, read } = setup();
  for (let i = 1; i <= 100; i += 1) stage("running", i < 95 ? 1_000 : 60_000);
  const of = () => read(1).stages.find((each) => each.stage === "running");
  const near = (got: number | undefined, wanted: number) =>
    expect(Math.abs((got ?? 0) - wanted) / wanted).toBeLessThan(0.05);
  expect(of()?.hour.count).toBe(100);
  near(of()?.hour.p50Ms, 1_000);
  near(of()?.hour.p95Ms, 60_000);
  pass(2 * HOUR);
  expect(of()).toMatchObject({ hour: { count: 0, p50Ms: undefined }, day: { count: 100 } });
  pass(24 * HOUR);
  expect(of()?.day.count).toBe(0);
  expect(read(1).stages.map((each) => each.stage)).toEqual(["queued", "submitting", "running", "finalizing"]);
});

test("a route has its errors, without cancelled attempts, and those beyond 200 are one", () => {
  const { attempt, read } = setup();
  for (const outcome of ["completed", "failed", "rejected", "unanswered", "cancelled"] as const)
    attempt(outcome);
  expect(read(1).routes).toEqual([
    {
      ...{ lane: lane("a"), upstreamModel: "m" },
      ...{ hour: { completed: 1, failed: 3 }, day: { completed: 1, failed: 3 } },
    },
  ]);
  for (let i = 0; i < 1_000; i += 1) attempt("completed", `model-${i}`);
  const { routes } = read(1);
  expect(routes).toHaveLength(201);
  expect(routes.find((each) => each.lane === "other")?.hour).toEqual({ completed: 801, failed: 0 });
});

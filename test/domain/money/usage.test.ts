import { describe, expect, test } from "bun:test";
import { dayOf, monthStartOf } from "../../../src/domain/day.ts";
import type { AttemptId, CallbackId } from "../../../src/domain/ids.ts";
import { toMicros, ZERO } from "../../../src/domain/money/money.ts";
import {
  formatSplit,
  parseSplit,
  sumUsage,
  usageOf,
  usualDuration,
} from "../../../src/domain/money/usage.ts";
import type { Task } from "../../../src/domain/task/task.ts";
import { cancelled, snoozed, succeeded } from "../../../src/domain/task/transition.ts";
import { newAsset, newTask } from "../../helpers/store.ts";

const at = (text: string) => Date.parse(text);

test("a day begins and ends at midnight UTC", () => {
  expect(dayOf(0)).toBe(0);
  const day = dayOf(at("2026-03-01T00:00:00Z"));
  expect(dayOf(at("2026-03-01T23:59:59.999Z"))).toBe(day);
  expect(dayOf(at("2026-03-02T00:00:00Z"))).toBe(day + 1);
});

test.each([
  ["2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"],
  ["2026-03-31T23:59:59Z", "2026-03-01T00:00:00Z"],
  ["2024-02-29T12:00:00Z", "2024-02-01T00:00:00Z"],
  ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
])("the month of %s begins on %s", (moment, start) => {
  expect(monthStartOf(at(moment))).toBe(dayOf(at(start)));
});

describe("usageOf", () => {
  const task = newTask() as Task;
  const day = dayOf(5);
  const none = { completed: 0, failed: 0, cancelled: 0, outputs: 0, charged: ZERO };
  const done = (held: number) =>
    usageOf(
      succeeded(
        { ...task, held: toMicros(held) },
        5,
        "att_1" as AttemptId,
        [newAsset()],
        undefined,
        "cb_1" as CallbackId,
      ),
    );

  test("counts what a completed task delivered and what was captured, which is never more than was held", () => {
    expect(done(40_000)).toEqual({ ...none, day, completed: 1, outputs: 1, charged: toMicros(40_000) });
    expect(done(30_000)?.charged).toBe(toMicros(30_000));
  });

  test("counts a cancelled task at no charge, and nothing for a task that goes on", () => {
    expect(usageOf(cancelled(task, 5))).toEqual({ ...none, day, cancelled: 1 });
    expect(usageOf(snoozed(task, 5, { dueAt: 6, failures: 0 }))).toBeUndefined();
  });

  test("sums field by field", () => {
    const one = { completed: 1, failed: 2, cancelled: 3, outputs: 4, charged: toMicros(5) };
    expect(sumUsage([one, one])).toEqual({
      completed: 2,
      failed: 4,
      cancelled: 6,
      outputs: 8,
      charged: toMicros(10),
    });
    expect(sumUsage([])).toEqual(none);
  });
});

describe("usualDuration", () => {
  test("says nothing of fewer than five tasks", () => {
    expect(usualDuration([1, 2, 3, 4])).toBeUndefined();
    expect(usualDuration([5, 5, 5, 5, 5])).toEqual({ p50Ms: 5, p90Ms: 5 });
  });

  test("is never negative, though the clock was set back during tasks", () => {
    expect(usualDuration([-9, -8, -7, -6, 5])).toEqual({ p50Ms: 0, p90Ms: 5 });
  });

  test("is the median and the ninth decile in whatever order the durations come", () => {
    const durations = [10, 2, 9, 1, 3, 8, 4, 7, 5, 6];
    expect(usualDuration(durations)).toEqual({ p50Ms: 5, p90Ms: 9 });
    expect(durations[0]).toBe(10);
  });
});

test("what usage is summed up by is one thing, or two different ones", () => {
  for (const text of ["day", "day,model", "provider,day", "account"]) {
    const split = parseSplit(text);
    expect(split && formatSplit(split)).toBe(text);
  }
  for (const text of ["", ",", "day,", ",day", "day,day", "day,model,key", "Day", "days", "day, model"])
    expect(parseSplit(text)).toBeUndefined();
  expect(parseSplit("day,provider", ["day", "model"])).toBeUndefined();
});

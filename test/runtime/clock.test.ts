import { afterEach, expect, setSystemTime, test } from "bun:test";
import { createSystemClock } from "../../src/runtime/clock.ts";

const START = 1_800_000_000_000;

afterEach(() => void setSystemTime());

test("a clock goes on from where it was, whatever happens to the system's clock, until it is told to follow", () => {
  setSystemTime(START);
  const clock = createSystemClock();
  const begunAt = clock.elapsed();
  setSystemTime(START - 3_600_000);
  const sinceMs = clock.elapsed() - begunAt;
  expect(Math.abs(clock.now() - START - sinceMs)).toBeLessThan(50);
  const behindMs = clock.behindMs();
  expect(Math.abs(behindMs + 3_600_000)).toBeLessThan(1_000);
  clock.jump(behindMs);
  expect(Math.abs(clock.behindMs())).toBeLessThan(50);
  expect(Number.isInteger(clock.now())).toBe(true);
});

import { expect, test } from "bun:test";
import { watchVitals } from "../../src/runtime/vitals.ts";
import { fakeClock } from "../helpers/engine.ts";

test("lateness is told with the part of it that the thread computed", () => {
  const clock = fakeClock();
  let computed = 0;
  const told: [lateMs: number, computedMs: number][] = [];
  const vitals = watchVitals({
    clock,
    computedMs: () => computed,
    lagged: (...lag) => void told.push(lag),
  });
  const pass = (ms: number, computedMs: number) => {
    computed += computedMs;
    clock.advance(ms);
  };
  pass(100, 30);
  pass(600, 590);
  pass(600, 20);
  expect(told).toEqual([
    [0, 0],
    [500, 500],
    [500, 20],
  ]);
  vitals.stop();
});

import { expect, test } from "bun:test";
import type { LogFields, SteadyClock } from "../../src/domain/ports/runtime.ts";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import type { TimeStore } from "../../src/domain/ports/time-store.ts";
import { createTimekeeper } from "../../src/scheduler/timekeeper.ts";
import { fakeClock } from "../helpers/engine.ts";
import { NOW, taskId } from "../helpers/store.ts";

const LONGEST = { taskMs: 600_000, callbackMs: 3_600_000 };
const FULL = new StorageError("full", "The disk is full.");

/** A timekeeper, what it asked of the store, and a system's clock that the test sets. */
function setup(given: { lastBeat?: number; isLive?: boolean; deadlineAt?: number } = {}) {
  const timers = fakeClock(0);
  let offsetMs = NOW;
  let systemMs = 0;
  const clock: SteadyClock = {
    ...timers,
    now: () => offsetMs + timers.now(),
    // As the real one, it has fractions.
    elapsed: () => timers.now() * (1 + 2 ** -22),
    behindMs: () => NOW + systemMs - offsetMs,
    jump(byMs) {
      offsetMs += byMs;
    },
  };
  const asked: unknown[] = [];
  const steps: number[] = [];
  const breaks: number[] = [];
  const done: string[] = [];
  const logged: [LogFields, string][] = [];
  const state = { isLive: true, isFull: false, deadlineAt: undefined, lastBeat: undefined, ...given };
  /** What writes wait for. */
  let held: Promise<void> | undefined;
  const write = async <T>(what: unknown, result: T) => {
    if (state.isFull) throw FULL;
    asked.push(what);
    await held;
    return result;
  };
  const time: TimeStore = {
    hasLiveTasks: async () => state.isLive,
    lastBeat: async () => state.lastBeat,
    beat: (at, lostSince) => write(lostSince === undefined ? { at } : { at, lostSince }, 2),
    move: (byMs) => write({ byMs }, { tasks: 2, callbacks: 1 }),
    async hurry() {
      done.push("hurry");
      return { tasks: 0, callbacks: 0 };
    },
    deadlineOf: async () => state.deadlineAt,
  };
  const say = (fields: LogFields, message: string) => void logged.push([fields, message]);
  const log = { debug: say, info: say, warn: say, error: say };
  const timekeeper = createTimekeeper(
    {
      ...{ time, clock, log },
      onStep: (ms) => void steps.push(ms),
      onBreak: () => void breaks.push(timers.now()),
      wake: () => void done.push("wake"),
    },
    LONGEST,
  );
  return {
    ...{ clock, timekeeper, asked, steps, breaks, done, logged, state },
    setSystem(byMs: number) {
      systemMs = byMs;
    },
    /** Makes writes wait. @returns what ends that */
    holdWrites(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = undefined;
        resolve();
      };
    },
    /** Lets time pass in which nothing runs. */
    standStill: timers.set,
    /** Lets so many seconds pass, one look after the other. */
    async pass(seconds: number) {
      for (let i = 0; i < seconds; i++) {
        timers.advance(1_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

test("a beat is written every five seconds, and none while no task is live", async () => {
  const { timekeeper, asked, state, pass } = setup();
  await timekeeper.start();
  await pass(11);
  expect(asked).toEqual([{ at: NOW + 5_000 }, { at: NOW + 10_000 }]);
  state.isLive = false;
  await pass(60);
  state.isLive = true;
  await pass(9);
  // The idle minute was not lost.
  expect(asked.slice(2)).toEqual([{ at: NOW + 75_000 }, { at: NOW + 80_000 }]);
});

test("time in which the store could not be written is lost, and reported once", async () => {
  const { timekeeper, asked, logged, state, pass } = setup();
  await timekeeper.start();
  await pass(5);
  state.isFull = true;
  await pass(120);
  state.isFull = false;
  await pass(1);
  expect(asked.at(-1)).toEqual({ at: NOW + 126_000, lostSince: NOW + 5_000 });
  expect(logged.map(([, message]) => message)).toEqual([
    "cannot record that the service works; deadlines wait",
    "could not work for a while; moved deadlines by as much",
  ]);
});

test("time in which a beat waited to be written is lost, as if it had failed", async () => {
  const { timekeeper, asked, logged, holdWrites, pass } = setup();
  await timekeeper.start();
  const release = holdWrites();
  await pass(8);
  release();
  await pass(1);
  expect(asked).toEqual([{ at: NOW + 5_000 }, { at: NOW + 9_000, lostSince: NOW }]);
  expect(logged).toEqual([
    [{ ms: 9_000, tasks: 2 }, "could not work for a while; moved deadlines by as much"],
  ]);
  await pass(5);
  expect(asked.slice(2)).toEqual([{ at: NOW + 14_000 }]);
});

test("time in which the process stood still is lost", async () => {
  const { timekeeper, asked, breaks, standStill } = setup();
  await timekeeper.start();
  standStill(600_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked[0]).toEqual({ at: NOW + 600_000, lostSince: NOW });
  expect(breaks).toEqual([600_000]);
});

test("small differences of the clocks are followed without a word", async () => {
  const { timekeeper, clock, asked, steps, setSystem, pass } = setup();
  await timekeeper.start();
  setSystem(-1_500);
  await pass(1);
  expect(clock.now()).toBe(NOW + 1_000 - 1_500);
  expect([asked, steps]).toEqual([[], []]);
});

test.each([-3_600_000, 3_600_000])("a step of %d ms moves stored times, then the clock", async (byMs) => {
  const { timekeeper, clock, asked, steps, breaks, logged, setSystem, pass } = setup();
  await timekeeper.start();
  setSystem(byMs);
  await pass(1);
  expect(clock.now()).toBe(NOW + 1_000 + byMs);
  expect([asked, steps, breaks]).toEqual([[{ byMs }], [byMs], [1_000]]);
  expect(logged[0]?.[0]).toEqual({ by_ms: byMs, tasks: 2, callbacks: 1 });
});

test("whoever waits for due work looks again after a step, by then with no due time too far off", async () => {
  const { timekeeper, done, setSystem, pass } = setup();
  await timekeeper.start();
  await pass(3);
  expect(done).toEqual(["hurry"]);
  setSystem(-3_600_000);
  await pass(1);
  expect(done).toEqual(["hurry", "hurry", "wake"]);
});

test("a step whose times cannot be moved is taken again later, and the clock goes on as before until then", async () => {
  const { timekeeper, clock, asked, steps, state, setSystem, pass } = setup();
  await timekeeper.start();
  state.isFull = true;
  setSystem(60_000);
  await pass(1);
  expect(clock.now()).toBe(NOW + 1_000);
  state.isFull = false;
  await pass(1);
  expect(clock.now()).toBe(NOW + 62_000);
  expect([asked, steps]).toEqual([[{ byMs: 60_000 }], [60_000, -60_000, 60_000]]);
});

test("the time since an earlier process is lost", async () => {
  const { timekeeper, asked } = setup({ lastBeat: NOW - 600_000 });
  await timekeeper.start();
  expect(asked).toEqual([{ at: NOW, lostSince: NOW - 600_000 }]);
});

test("an earlier process that beat in the future shows that the clock was set back", async () => {
  const { timekeeper, asked, steps } = setup({ lastBeat: NOW + 3_600_000 });
  await timekeeper.start();
  expect([asked, steps]).toEqual([[{ byMs: -3_600_000 }], [-3_600_000]]);
});

test("a deadline is judged after lost time is made up for", async () => {
  const { timekeeper, asked, standStill, state } = setup({ deadlineAt: NOW + 60_000 });
  await timekeeper.start();
  expect(await timekeeper.isOverdue(taskId(1))).toBe(false);
  standStill(59_999);
  expect(await timekeeper.isOverdue(taskId(1))).toBe(false);
  expect(asked).toEqual([{ at: NOW + 59_999, lostSince: NOW }]);
  standStill(60_000);
  expect(await timekeeper.isOverdue(taskId(1))).toBe(true);
  state.deadlineAt = undefined;
  expect(await timekeeper.isOverdue(taskId(1))).toBe(false);
});

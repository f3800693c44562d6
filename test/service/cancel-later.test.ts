import { expect, test } from "bun:test";
import { createCancelLater } from "../../src/service/cancel-later.ts";
import { ACCOUNT, NOW, newTask, taskId } from "../helpers/store.ts";

/** A clock whose timers run when it is set on. */
function setup(
  timed: readonly { cancelAt: number; cancelsUnstarted?: true }[] = [],
  started: readonly string[] = [],
) {
  const timers = new Set<{ at: number; run: () => void }>();
  let now = NOW;
  const asked: string[] = [];
  const listeners = new Set<(id: string, isOver: boolean) => void>();
  const stopping = new AbortController();
  let trouble: Error | undefined;
  let stored: number | undefined;
  const later = createCancelLater({
    clock: {
      now: () => now,
      elapsed: () => now,
      after(delayMs: number, run: () => void) {
        const timer = { at: now + delayMs, run };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
    },
    tasks: {
      timed: async () => timed.map((each, i) => ({ id: taskId(i + 1), accountId: ACCOUNT, ...each })),
      summary: async (id: string) => ({
        ...newTask(),
        ...(started.includes(id) && { status: "processing", startedAt: NOW }),
      }),
      byId: async () => ({ request: { ...newTask().request, cancelAt: stored } }),
      async requestCancel(id: string) {
        if (trouble !== undefined) throw trouble;
        asked.push(id);
        return "not_found";
      },
    } as never,
    feed: {
      subscribeAll(tell: (id: string, isOver: boolean) => void) {
        listeners.add(tell);
        return () => void listeners.delete(tell);
      },
    },
    ...({ wakeup: {}, tally: {} } as never as object),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    stopping: stopping.signal,
  } as never);
  return {
    later,
    asked,
    stopping,
    timers,
    listeners,
    tell: (id: string, isOver: boolean) => listeners.forEach((each) => void each(id, isOver)),
    /** The clock is set back, and the stored time is moved along. Timers run as long as before. */
    setBack(byMs: number, cancelAt: number) {
      now -= byMs;
      stored = cancelAt - byMs;
      for (const timer of timers) timer.at -= byMs;
    },
    fail: (error?: Error) => {
      trouble = error;
    },
    async goTo(at: number) {
      now = at;
      for (const timer of timers) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.run();
      }
      // What a timer begins has ended after a few turns.
      for (let i = 0; i < 10; i += 1) await Promise.resolve();
    },
  };
}

test("a task is cancelled at its time and not before, once", async () => {
  const { later, asked, goTo } = setup();
  later.plan({ id: taskId(1), accountId: ACCOUNT }, NOW + 5_000);
  await goTo(NOW + 4_999);
  expect(asked).toEqual([]);
  await goTo(NOW + 5_000);
  await goTo(NOW + 50_000);
  expect(asked).toEqual([taskId(1)]);
});

test("a task that has ended is forgotten, and nothing listens after the service stops", async () => {
  const { later, asked, goTo, tell, timers, listeners, stopping } = setup();
  for (const id of [taskId(1), taskId(2)]) later.plan({ id, accountId: ACCOUNT }, NOW + 5_000);
  tell(taskId(1), false);
  expect(timers.size).toBe(2);
  tell(taskId(1), true);
  expect(timers.size).toBe(1);
  await goTo(NOW + 5_000);
  expect(asked).toEqual([taskId(2)]);
  stopping.abort();
  expect(listeners.size).toBe(0);
});

test("what an earlier process planned is planned again; what is overdue is cancelled at once", async () => {
  const { later, asked, goTo } = setup([{ cancelAt: NOW - 1 }, { cancelAt: NOW + 10 }]);
  await later.resume();
  await goTo(NOW);
  expect(asked).toEqual([taskId(1)]);
  await goTo(NOW + 10);
  expect(asked).toEqual([taskId(1), taskId(2)]);
});

test("one that only has to start in time is left alone once it has", async () => {
  const cancelsUnstarted = true;
  const late = { cancelAt: NOW + 10, cancelsUnstarted } as const;
  const { later, asked, goTo } = setup([late, late], [taskId(1)]);
  await later.resume();
  later.plan({ id: taskId(3), accountId: ACCOUNT, cancelsUnstarted }, NOW + 20);
  await goTo(NOW + 10);
  expect(asked).toEqual([taskId(2)]);
  await goTo(NOW + 20);
  expect(asked).toEqual([taskId(2), taskId(3)]);
});

test("a timer that ends before its time waits for the rest", async () => {
  const { later, asked, goTo, timers } = setup();
  later.plan({ id: taskId(1), accountId: ACCOUNT }, NOW + 5);
  for (const timer of timers) timer.at -= 1;
  await goTo(NOW + 4);
  expect(asked).toEqual([]);
  await goTo(NOW + 5);
  expect(asked).toEqual([taskId(1)]);
});

test("a cancel that cannot be stored is tried again, and none is after the service stops", async () => {
  const { later, asked, goTo, fail, stopping } = setup();
  later.plan({ id: taskId(1), accountId: ACCOUNT }, NOW);
  fail(new Error("full"));
  await goTo(NOW);
  fail();
  await goTo(NOW + 2_000);
  expect(asked).toEqual([taskId(1)]);
  later.plan({ id: taskId(2), accountId: ACCOUNT }, NOW + 3_000);
  stopping.abort();
  await goTo(NOW + 3_000);
  expect(asked).toEqual([taskId(1)]);
});

test("a task is cancelled after as long as was asked for, though the clock was set back meanwhile", async () => {
  const { later, asked, setBack, goTo } = setup();
  later.plan({ id: taskId(1), accountId: ACCOUNT }, NOW + 60_000);
  setBack(3_600_000, NOW + 60_000);
  await goTo(NOW + 59_000 - 3_600_000);
  expect(asked).toEqual([]);
  await goTo(NOW + 60_000 - 3_600_000);
  expect(asked).toEqual([taskId(1)]);
});

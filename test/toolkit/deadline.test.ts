import { describe, expect, test } from "bun:test";
import { type After, DeadlineExceeded, orAborted, startDeadline } from "../../src/toolkit/deadline.ts";

/** A clock that moves by hand. */
function handClock() {
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  const after: After = (delayMs, callback) => {
    const timer = { at: now + delayMs, callback };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const pass = (ms: number) => {
    now += ms;
    for (const timer of [...timers]) {
      if (timer.at <= now && timers.delete(timer)) timer.callback();
    }
  };
  return { after, pass, pending: () => timers.size };
}

const never = new AbortController().signal;

describe("a deadline", () => {
  test("aborts when a phase takes too long, and names the phase", () => {
    const clock = handClock();
    const deadline = startDeadline(clock, never);
    deadline.phase(100, "no answer");
    clock.pass(99);
    expect([deadline.signal.aborted, deadline.hasPassed()]).toEqual([false, false]);
    clock.pass(1);
    expect([deadline.signal.aborted, deadline.hasPassed()]).toEqual([true, true]);
    expect(deadline.signal.reason).toEqual(new DeadlineExceeded("no answer in time"));
  });

  test("gives each phase its own time, and none to a pause", () => {
    const clock = handClock();
    const deadline = startDeadline(clock, never);
    deadline.phase(100, "no connection");
    clock.pass(99);
    deadline.phase(100, "no answer");
    clock.pass(99);
    deadline.pause();
    clock.pass(1_000);
    expect(deadline.signal.aborted).toBe(false);
  });

  test("limits all phases together, pauses included", () => {
    const clock = handClock();
    const deadline = startDeadline(clock, never, { delayMs: 250, what: "the file did not come" });
    deadline.phase(200, "no answer");
    clock.pass(199);
    deadline.pause();
    clock.pass(51);
    expect(deadline.signal.reason).toEqual(new DeadlineExceeded("the file did not come in time"));
  });

  test("aborts with its parent's reason, which is no passed deadline", () => {
    const parent = new AbortController();
    const later = startDeadline(handClock(), parent.signal);
    parent.abort("stopped");
    const already = startDeadline(handClock(), parent.signal);
    for (const deadline of [later, already]) {
      expect([deadline.signal.reason, deadline.hasPassed()]).toEqual(["stopped", false]);
    }
  });

  test("that has ended leaves no timer and aborts no more", () => {
    const clock = handClock();
    const parent = new AbortController();
    const deadline = startDeadline(clock, parent.signal, { delayMs: 250, what: "the file did not come" });
    deadline.phase(200, "no answer");
    deadline.end();
    parent.abort();
    expect([clock.pending(), deadline.signal.aborted]).toEqual([0, false]);
  });
});

test("work that cannot be aborted is left when the signal aborts", async () => {
  const controller = new AbortController();
  const left = orAborted(new Promise(() => {}), controller.signal);
  controller.abort(new Error("stopped"));
  await expect(left).rejects.toThrow("stopped");
  await expect(orAborted(Promise.resolve(1), controller.signal)).rejects.toThrow("stopped");
  expect(await orAborted(Promise.resolve(1), never)).toBe(1);
});

import type { Clock } from "../domain/ports/runtime.ts";

/** Longest delay a timer takes; anything above fires at once instead of late. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    after(delayMs, callback) {
      const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), TIMER_MAX_MS));
      return () => clearTimeout(timer);
    },
  };
}

/** Milliseconds on a clock that never jumps, for measuring how long things take. */
export function monotonicMs(): number {
  return performance.now();
}

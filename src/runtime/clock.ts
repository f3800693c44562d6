import type { SteadyClock } from "../domain/ports/runtime.ts";

/** Longest delay a timer takes; anything above fires at once instead of late. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Starts at the system's time, or at the time that `read` returns instead, and counts by itself from then on. */
export function createSystemClock(read: () => number = Date.now): SteadyClock {
  let offsetMs = read() - monotonicMs();
  const now = () => Math.round(offsetMs + monotonicMs());
  return {
    now,
    elapsed: monotonicMs,
    after(delayMs, callback) {
      const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), TIMER_MAX_MS));
      return () => clearTimeout(timer);
    },
    behindMs: () => read() - now(),
    jump(byMs) {
      offsetMs += byMs;
    },
  };
}

/** Milliseconds on a clock that never jumps, for measuring how long things take. */
export function monotonicMs(): number {
  return performance.now();
}

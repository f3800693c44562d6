import type { SteadyClock } from "../domain/ports/runtime.ts";
import { LONGEST_TIMER_MS } from "../toolkit/longest-timer.ts";

/** Starts at the system's time, or at the time that `read` returns instead, and counts by itself from then on. */
export function createSystemClock(read: () => number = Date.now): SteadyClock {
  let offsetMs = read() - monotonicMs();
  const now = () => Math.round(offsetMs + monotonicMs());
  return {
    now,
    elapsed: monotonicMs,
    after(delayMs, callback) {
      const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), LONGEST_TIMER_MS));
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

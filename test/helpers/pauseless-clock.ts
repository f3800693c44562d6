import { createSystemClock } from "../../src/runtime/clock.ts";

/** No pause between two tries is longer, and no limit for an answer is shorter. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * A clock on which pauses are over at once and count as if they had been waited for; nothing else takes time. The limits for
 * answers end when the test says so.
 */
export function pauselessClock() {
  const { now, after } = createSystemClock();
  let elapsedMs = 0;
  const limits = new Set<() => void>();
  return {
    now,
    elapsed: () => elapsedMs,
    after(delayMs: number, callback: () => void) {
      if (delayMs <= LONGEST_PAUSE_MS) {
        elapsedMs += delayMs;
        return after(0, callback);
      }
      const limit = () => callback();
      limits.add(limit);
      return () => void limits.delete(limit);
    },
    pass(ms: number) {
      elapsedMs += ms;
    },
    /** Whoever waits for an answer has waited long enough. */
    endWaits() {
      const waiting = [...limits];
      limits.clear();
      for (const end of waiting) end();
    },
  };
}

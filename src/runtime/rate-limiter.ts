// The package as a whole loads its limiters for every database, and `node:cluster` with them.
import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";
import type { Counted, RateLimiter } from "../domain/ports/rate-limiter.ts";
import type { Clock } from "../domain/ports/runtime.ts";

const WINDOW_SEC = 60;

/** Counts in memory: every window restarts with the process. Its timers keep no process alive. */
export function createRateLimiter({ clock }: { readonly clock: Pick<Clock, "now"> }): RateLimiter {
  // The library only counts. This function compares with the limit, which differs by key and may change at any time.
  const counts = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SEC });
  return {
    async take(key: Counted, perMinute: number) {
      const { consumedPoints, msBeforeNext } = await counts.consume(key);
      const resetsInMs = withinWindow(msBeforeNext);
      return {
        isAllowed: consumedPoints <= perMinute,
        limit: perMinute,
        remaining: Math.max(0, perMinute - consumedPoints),
        resetsInMs,
        resetsAt: clock.now() + resetsInMs,
      };
    },
    async peek(key: Counted, perMinute: number) {
      const counted = await counts.get(key);
      // A window that is over stays in memory until its timer fires.
      if (counted === null || counted.msBeforeNext <= 0) return { limit: perMinute, remaining: perMinute };
      return {
        limit: perMinute,
        remaining: Math.max(0, perMinute - counted.consumedPoints),
        resetsAt: clock.now() + withinWindow(counted.msBeforeNext),
      };
    },
  };
}

/** At least one millisecond, never 0. The library counts by the system's clock, which may have been set back. */
function withinWindow(ms: number): number {
  return Math.min(WINDOW_SEC * 1_000, Math.max(1, ms));
}

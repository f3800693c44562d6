/** Spreads requests evenly. What a late timer missed is made up for, up to a tenth of a second's worth. */
export interface Bucket {
  /** How many may go now. */
  free(now: number): number;
  /** How long until one may go. */
  waitMs(now: number): number;
  /** Takes the next place, now or later. @returns its time */
  take(now: number): number;
}

const CATCH_UP_MS = 100;

/** @param perMinute undefined: there is no limit */
export function bucketOf(perMinute: number | undefined): Bucket | undefined {
  if (perMinute === undefined) return undefined;
  return createBucket(() => 60_000 / perMinute);
}

/** @param intervalMs may be another one each time it is asked for */
export function createBucket(intervalMs: () => number): Bucket {
  /** When all places are free again. */
  let fullAt = Number.NEGATIVE_INFINITY;
  const places = (now: number) =>
    Math.max(1, CATCH_UP_MS / intervalMs()) - Math.max(0, fullAt - now) / intervalMs();
  // A place that is there but for a rounding is there.
  const free = (now: number) => Math.max(0, Math.floor(places(now) + 1e-6));
  const waitMs = (now: number) => (free(now) > 0 ? 0 : Math.ceil((1 - places(now)) * intervalMs()));
  return {
    free,
    waitMs,
    take(now) {
      const at = now + waitMs(now);
      fullAt = Math.max(fullAt, now) + intervalMs();
      return at;
    },
  };
}

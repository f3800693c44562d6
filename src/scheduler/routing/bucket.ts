/** Spreads requests evenly. Requests that a late timer missed are made up for, up to a tenth of a second's worth. */
export interface Bucket {
  /** How many may go now. */
  free(now: number): number;
  /** How long until one request may go. */
  waitMs(now: number): number;
  /** Takes the next place, now or later. @returns its time */
  take(now: number): number;
}

const CATCH_UP_MS = 100;

/** @param perMinute undefined: there is no limit */
export function bucketOf(perMinute: number | undefined): Bucket | undefined {
  if (perMinute === undefined) return undefined;
  return withinSeconds(
    createBucket(() => 60_000 / perMinute),
    Math.max(1, Math.ceil(perMinute / 60)),
  );
}

/** Requests that are made up for never exceed the limit of any second. @param most places in a second */
function withinSeconds(bucket: Bucket, most: number): Bucket {
  const taken = createTimes(most, 1_000);
  const waitMs = (now: number) => Math.max(bucket.waitMs(now), taken.openAt() - now);
  return {
    free(now) {
      const free = Math.min(most, bucket.free(now));
      let open = 0;
      while (open < free && taken.openAt(open) <= now) open += 1;
      return open;
    },
    waitMs,
    take(now) {
      const at = now + waitMs(now);
      bucket.take(now);
      taken.add(at);
      return at;
    },
  };
}

/** The times of the latest requests, limited to a number in each window. */
export function createTimes(most: number, windowMs: number) {
  const times = new Array<number>(most).fill(Number.NEGATIVE_INFINITY);
  let oldest = 0;
  return {
    /** When a request may go that has this many before it, fewer than `most`. */
    openAt: (ahead = 0) => (times[(oldest + ahead) % most] ?? 0) + windowMs,
    add(time: number): void {
      times[oldest] = time;
      oldest = (oldest + 1) % most;
    },
  };
}

/** @param intervalMs may differ from call to call */
export function createBucket(intervalMs: () => number): Bucket {
  /** When all places are free again. */
  let fullAt = Number.NEGATIVE_INFINITY;
  const places = (now: number) =>
    Math.max(1, CATCH_UP_MS / intervalMs()) - Math.max(0, fullAt - now) / intervalMs();
  // A place that is missing only because of rounding counts as free.
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

import { createBucket } from "./bucket.ts";

/**
 * How many submissions per minute an account takes, or one of its models, learned from its refusals: each refusal halves the rate, and
 * without refusals it grows steadily.
 */
export interface FoundRate {
  /** How many may go now; undefined: no limit. */
  free(now: number): number | undefined;
  /** How long until a submission may go that has this many before it; none unless given. */
  waitMs(now: number, ahead?: number): number;
  /** A submission goes. */
  take(now: number): void;
  /** The upstream says that it gets too many requests. */
  slow(now: number): void;
  /** The rate now, or later without another refusal. Undefined: it is not known, or no longer. */
  perMinute(time: number): number | undefined;
}

/** The period over which submissions are counted to find the present rate. */
const SEEN_SECONDS = 10;
/** Refusals within this time have one cause: requests that were on their way when the first refusal came. */
const ONE_CAUSE_MS = 1_000;
const LEAST_PER_MINUTE = 6;
/** After this time without a refusal, the account gets as many requests as when it last refused. */
const REGAINED_MS = 30_000;

export function createFoundRate(): FoundRate {
  const sent = createRecentCount();
  /** The rate at the latest refusal, the rate to which it was lowered, and when. */
  let found: { readonly before: number; readonly lowered: number; readonly at: number } | undefined;

  function perMinute(time: number): number | undefined {
    if (found === undefined) return undefined;
    const { before, lowered, at } = found;
    // Follows from the halved rate, even if the rate was not lowered that far.
    const regained = lowered + ((before / 2) * (time - at)) / REGAINED_MS;
    // If the rate is twice the one that was refused, and nothing was refused, either the account takes more now, or the rate was
    // never the cause.
    return regained >= before * 2 ? undefined : regained;
  }

  let at = 0;
  const bucket = createBucket(() => 60_000 / (perMinute(at) ?? Number.POSITIVE_INFINITY));
  const isLimited = (now: number) => {
    at = now;
    return perMinute(now) !== undefined;
  };
  return {
    free: (now) => (isLimited(now) ? bucket.free(now) : undefined),
    waitMs(now, ahead = 0) {
      const rate = isLimited(now) ? perMinute(now) : undefined;
      if (rate === undefined) return 0;
      const free = bucket.free(now);
      const before = Math.max(0, ahead + 1 - Math.max(1, free));
      return bucket.waitMs(now) + Math.ceil((before * 60_000) / rate);
    },
    take(now) {
      sent.add(now);
      if (isLimited(now)) bucket.take(now);
    },
    slow(now) {
      if (found !== undefined && now - found.at < ONE_CAUSE_MS) return;
      const seen = (sent.total(now) * 60) / SEEN_SECONDS;
      const before = Math.max(LEAST_PER_MINUTE, Math.min(seen, perMinute(now) ?? seen));
      found = { before, lowered: Math.max(LEAST_PER_MINUTE, before / 2), at: now };
    },
    perMinute,
  };
}

/** Counts the events of the last `SEEN_SECONDS`, by second. */
function createRecentCount() {
  const counts = Array.from({ length: SEEN_SECONDS }, () => ({ second: -1, count: 0 }));
  return {
    add(now: number): void {
      const second = Math.floor(now / 1000);
      const place = counts[second % SEEN_SECONDS];
      if (place === undefined) return;
      if (place.second !== second) place.count = 0;
      place.second = second;
      place.count += 1;
    },
    total(now: number): number {
      const oldest = Math.floor(now / 1000) - SEEN_SECONDS;
      return counts.reduce((sum, { second, count }) => (second > oldest ? sum + count : sum), 0);
    },
  };
}

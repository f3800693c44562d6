import { createBucket } from "./bucket.ts";

/** How many submissions a minute an account takes, found out by its refusals: it is halved by one, and grows steadily without. */
export interface FoundRate {
  /** How many may go now; undefined: any number. */
  free(now: number): number | undefined;
  /** How long until one may go that has so many before it; none unless given. */
  waitMs(now: number, ahead?: number): number;
  /** A submission goes. */
  take(now: number): void;
  /** The upstream says that it is asked too often. */
  slow(now: number): void;
  /** Undefined: nothing is known, or not any more. */
  perMinute(now: number): number | undefined;
}

/** Submissions of so long a time tell how often the account is asked. */
const SEEN_SECONDS = 10;
/** Refusals within this time have one cause: what was on its way when the first of them came. */
const ONE_CAUSE_MS = 1_000;
const LEAST_PER_MINUTE = 6;
/** After this time without a refusal, an account is asked as often as when it last refused. */
const REGAINED_MS = 30_000;

export function createFoundRate(): FoundRate {
  const sent = createRecentCount();
  /** The rate at the latest refusal, the one that it was lowered to, and when. */
  let found: { readonly before: number; readonly lowered: number; readonly at: number } | undefined;

  function perMinute(now: number): number | undefined {
    if (found === undefined) return undefined;
    const { before, lowered, at } = found;
    // By what was halved, also where it was not lowered so far.
    const regained = lowered + ((before / 2) * (now - at)) / REGAINED_MS;
    // Twice as often as when it refused, and nothing was refused: it takes more now, or never was the matter.
    if (regained >= before * 2) found = undefined;
    return found && regained;
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

/** Counts what happened in the last `SEEN_SECONDS`, by the second. */
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

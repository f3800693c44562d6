/** Buckets per doubling. The middle of a bucket is within 4.5 % of every duration in it. */
const PER_DOUBLING = 8;
/** From 1 ms to 37 hours. */
export const DURATION_BUCKETS = 27 * PER_DOUBLING;

/** The bucket that counts a duration. */
export function bucketOf(durationMs: number): number {
  const bucket = Math.floor(Math.log2(Math.max(1, durationMs)) * PER_DOUBLING);
  return Math.min(bucket, DURATION_BUCKETS - 1);
}

/** The middle of the bucket in which a share of all durations, counted from the shortest, ends. @returns undefined without any */
export function quantileMs(counts: ArrayLike<number>, share: number): number | undefined {
  let total = 0;
  for (let i = 0; i < counts.length; i++) total += counts[i] ?? 0;
  if (total === 0) return undefined;
  const rank = Math.max(1, Math.ceil(share * total));
  let passed = 0;
  let bucket = 0;
  while (passed < rank) passed += counts[bucket++] ?? 0;
  return Math.round(2 ** ((bucket - 0.5) / PER_DOUBLING));
}

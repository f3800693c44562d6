/** What several pairs say of a ratio: its median, and between what the true median lies. */
export interface Interval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** How often an interval made like this one holds the true median, 0.95 or more. */
  readonly confidence: number;
}

const CONFIDENCE = 0.95;
/** With fewer, not even the lowest and the highest value are far enough apart to be sure. */
export const LEAST_PAIRS = 6;

/**
 * The interval of the sign test for the median: from the k-th lowest value to the k-th highest, with the largest k that leaves a
 * confidence of 95 %. It supposes nothing of how the values are spread, only that each is as likely to lie above the true median as
 * below, which alternating the order within pairs sees to.
 *
 * @returns undefined for fewer than `LEAST_PAIRS` values
 */
export function medianInterval(values: readonly number[]): Interval | undefined {
  if (values.length < LEAST_PAIRS) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  let k = 1;
  while (confidenceOf(sorted.length, k + 1) >= CONFIDENCE) k += 1;
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    low: at(k - 1),
    high: at(sorted.length - k),
    confidence: confidenceOf(sorted.length, k),
  };
}

/** That of `count` values at least k lie below the true median, and at least k above it. */
function confidenceOf(count: number, k: number): number {
  let outside = 0;
  let chance = 0.5 ** count;
  for (let below = 0; below < k; below++) {
    outside += chance;
    chance *= (count - below) / (below + 1);
  }
  return 1 - 2 * outside;
}

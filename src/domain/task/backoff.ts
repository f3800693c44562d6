/** ±20 % of a delay; `random` in [0, 1). */
function jitter(delayMs: number, random: number): number {
  return Math.round(delayMs * (0.8 + 0.4 * random));
}

/**
 * Delay before a task's next poll: frequent at first, patient later.
 *
 * @param elapsedMs since submission, ≥ 0
 * @param random in [0, 1)
 * @returns milliseconds, about a tenth of the elapsed time, 100 … 5_000 ±20 %
 */
export function nextPollDelayMs(elapsedMs: number, random: number): number {
  return jitter(Math.min(5_000, Math.max(100, elapsedMs / 10)), random);
}

/**
 * Delay after the `failures`-th transient failure in a row, doubling from half a second.
 *
 * @param failures ≥ 1
 * @returns milliseconds, 500 … 30_000 ±20 %
 */
export function retryDelayMs(failures: number, random: number): number {
  return jitter(Math.min(30_000, 500 * 2 ** Math.min(failures - 1, 10)), random);
}

/**
 * Delay before the next callback attempt, or undefined when none is left.
 *
 * @param delaysMs before attempts 2, 3 and so on
 * @param attempts made so far, ≥ 1
 * @param retryAfterMs what the receiver asked for, if anything; counts up to an hour
 */
export function callbackDelayMs(
  delaysMs: readonly number[],
  attempts: number,
  random: number,
  retryAfterMs?: number,
): number | undefined {
  const delay = delaysMs[attempts - 1];
  if (delay === undefined) return undefined;
  return retryAfterMs === undefined
    ? jitter(delay, random)
    : Math.min(Math.max(retryAfterMs, 1_000), 3_600_000);
}

/** A delay ±20 %; `random` in [0, 1). */
function jitter(delayMs: number, random: number): number {
  return Math.round(delayMs * (0.8 + 0.4 * random));
}

/** Delay before the next contact with the upstream after a contact was cut short, for example by a restart. */
export const RESUME_DELAY_MS = 500;

/** The longest wait of a task at a time, whatever an upstream asks for. */
export const LONGEST_DELAY_MS = 600_000;
/** The longest time that a receiver may ask for before the next attempt of a callback. */
const LONGEST_RECEIVER_DELAY_MS = 3_600_000;

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

const SHORTEST_RETRY_MS = 500;
/** After so many failures in a row, a shorter delay that the upstream asks for no longer counts. */
const ASKED_IN_VAIN = 5;

/**
 * Delay after the `failures`-th transient failure in a row, doubling from half a second.
 *
 * @param failures ≥ 1
 * @param askedMs the delay that the upstream asked for, if any. Some ask for none, or for a time in the past
 * @returns milliseconds, 500 … 30_000 ±20 %; or the requested delay, at least 500, and from the fifth failure on at least the former
 */
export function retryDelayMs(failures: number, random: number, askedMs?: number): number {
  const ownMs = jitter(Math.min(30_000, SHORTEST_RETRY_MS * 2 ** Math.min(failures - 1, 10)), random);
  if (askedMs === undefined) return ownMs;
  return Math.max(failures < ASKED_IN_VAIN ? SHORTEST_RETRY_MS : ownMs, askedMs);
}

/** When a task is due again after a delay: at its deadline at the latest, since it may end then; after the delay once that has passed. */
export function dueAfter(now: number, delayMs: number, deadlineAt = Number.POSITIVE_INFINITY): number {
  return now < deadlineAt ? Math.min(now + delayMs, deadlineAt) : now + delayMs;
}

/**
 * Delay before the next callback attempt, or undefined when none is left.
 *
 * @param delaysMs before attempts 2, 3 and so on
 * @param attempts made so far, ≥ 1
 * @param retryAfterMs the delay that the receiver asked for, if any; at most an hour counts
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
    : Math.min(Math.max(retryAfterMs, 1_000), LONGEST_RECEIVER_DELAY_MS);
}

/** The longest delay that `callbackDelayMs` gives with these delays. */
export function longestCallbackDelayMs(delaysMs: readonly number[]): number {
  return Math.max(LONGEST_RECEIVER_DELAY_MS, ...delaysMs.map((delayMs) => jitter(delayMs, 1)));
}

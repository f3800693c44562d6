/** What is refused while the process has more to do than it can, in this order. */
export const SHED_CLASSES = ["creates", "lists", "reads"] as const;
export type ShedClass = (typeof SHED_CLASSES)[number];

/** `queues`: creates of models for which the caller's tasks wait too long already. */
export const SHED_KINDS = [...SHED_CLASSES, "queues"] as const;
export type ShedKind = (typeof SHED_KINDS)[number];

/** How the process does, and how it should. */
export interface Load {
  /** How late the event loop comes to its timers, smoothed. */
  readonly lagMs: number;
  readonly mostLagMs: number;
  readonly rssBytes: number;
  readonly mostRssBytes: number;
}

/** The pressure at which everything that may be refused is. */
const MOST = SHED_CLASSES.length;
/** How far one look moves the pressure. Looks come ten times a second, so that it is gone three seconds after its cause. */
const STEP = 0.05;
const MOST_STEPS_UP = 4;
const STEPS_DOWN = 2;
/** Each part of the memory that is used above the limit counts for so much: 10 % more, and all lists are refused too. */
const PER_MEMORY_ABOVE = 10;

/**
 * How hard the process is pressed at the next look: 0 is not at all; up to 1, a growing share of creates is refused; up to 2, of
 * lists too; up to 3, of reads. The lag moves it by small steps, so that the share settles where the process just keeps up.
 */
export function nextPressure(pressure: number, { lagMs, mostLagMs, rssBytes, mostRssBytes }: Load): number {
  const over = lagMs / mostLagMs;
  const step = over > 1 ? Math.min(MOST_STEPS_UP, over) : -STEPS_DOWN;
  const ofMemory = rssBytes > mostRssBytes ? 1 + (rssBytes / mostRssBytes - 1) * PER_MEMORY_ABOVE : 0;
  const next = Math.max(pressure + step * STEP, ofMemory);
  // Sums of small fractions: what is left of them is nothing.
  return next < STEP / 2 ? 0 : Math.min(MOST, next);
}

/** The share of requests of a class that is refused, from 0 to 1. */
export function refusedShare(pressure: number, shed: ShedClass): number {
  return Math.min(1, Math.max(0, pressure - SHED_CLASSES.indexOf(shed)));
}

/** How an account's tasks wait for a lane. */
export interface OwnQueue {
  /** Its tasks that wait. */
  readonly count: number;
  /** Tasks of the lane, anybody's, that begin in a second; absent before that was measured. */
  readonly perSecond: number | undefined;
  /** How long its oldest has waited. */
  readonly waitedMs: number;
  readonly mostWaitMs: number;
}

/**
 * Whether one more task would wait too long: the oldest has already, or those before it cannot all begin in time, even if the lane did
 * nothing else. The second is known before the first: otherwise much too much would be taken until the oldest is old.
 */
export function isTooLong({ count, perSecond, waitedMs, mostWaitMs }: OwnQueue): boolean {
  if (waitedMs > mostWaitMs) return true;
  return isMeasured(perSecond) && count > perSecond * (mostWaitMs / 1000);
}

const LEAST_RETRY_SEC = 1;
const MOST_RETRY_SEC = 300;
/** Where nothing leaves the queue, or nobody knows yet. */
const USUAL_RETRY_SEC = 30;

/** Seconds after which so much of a queue has begun that one more task would not wait too long. */
export function queueRetrySec({ count, perSecond, waitedMs, mostWaitMs }: OwnQueue): number {
  if (!isMeasured(perSecond)) return USUAL_RETRY_SEC;
  const tooMany = Math.max(count - perSecond * (mostWaitMs / 1000), count * (1 - mostWaitMs / waitedMs));
  return Math.min(MOST_RETRY_SEC, Math.max(LEAST_RETRY_SEC, Math.ceil(tooMany / perSecond)));
}

function isMeasured(perSecond: number | undefined): perSecond is number {
  return perSecond !== undefined && perSecond > 0;
}

const MOST_PRESSED_RETRY_SEC = 30;

/** Seconds after which a pressed process may have time again: as long again as it has been pressed. */
export function pressedRetrySec(pressedMs: number): number {
  return Math.min(MOST_PRESSED_RETRY_SEC, Math.max(LEAST_RETRY_SEC, Math.ceil(pressedMs / 1000)));
}

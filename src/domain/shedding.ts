/** The classes of requests that an overloaded process refuses, in this order. */
export const SHED_CLASSES = ["creates", "lists", "reads"] as const;
export type ShedClass = (typeof SHED_CLASSES)[number];

/** `queues`: creates of models whose queue is already too long for the caller. */
export const SHED_KINDS = [...SHED_CLASSES, "queues"] as const;
export type ShedKind = (typeof SHED_KINDS)[number];

/** The load of the process, and its limits. */
export interface Load {
  /** How late the event loop runs its timers, smoothed. */
  readonly lagMs: number;
  readonly mostLagMs: number;
  readonly heldBytes: number;
  readonly mostHeldBytes: number;
}

/** At this pressure, every request that may be refused is refused. */
const MOST = SHED_CLASSES.length;
/**
 * How much one measurement changes the pressure. There are ten measurements a second, so the pressure is gone three seconds
 * after its cause.
 */
const STEP = 0.05;
const MOST_STEPS_UP = 4;
const STEPS_DOWN = 2;
/** Pressure for memory above the limit, relative to the limit: with 10 % more, all lists are refused too. */
const PER_MEMORY_ABOVE = 10;

/**
 * The pressure on the process after the next measurement. 0 is none. Up to 1, a growing share of creates is refused; up to 2,
 * also of lists; up to 3, also of reads. The lag changes it in small steps, so that the share settles where the process just
 * keeps up.
 */
export function nextPressure(pressure: number, { lagMs, mostLagMs, heldBytes, mostHeldBytes }: Load): number {
  const over = lagMs / mostLagMs;
  const step = over > 1 ? Math.min(MOST_STEPS_UP, over) : -STEPS_DOWN;
  const ofMemory = heldBytes > mostHeldBytes ? 1 + (heldBytes / mostHeldBytes - 1) * PER_MEMORY_ABOVE : 0;
  const next = Math.max(pressure + step * STEP, ofMemory);
  // The steps are small fractions; a sum this close to zero is a rounding error.
  return next < STEP / 2 ? 0 : Math.min(MOST, next);
}

/** The share of requests of a class that is refused, from 0 to 1. */
export function refusedShare(pressure: number, shed: ShedClass): number {
  return Math.min(1, Math.max(0, pressure - SHED_CLASSES.indexOf(shed)));
}

/** The waiting tasks of an account in one lane. */
export interface OwnQueue {
  /** Its tasks that wait. */
  readonly count: number;
  /** Tasks of the lane, of all accounts, that begin per second; absent before it was measured. */
  readonly perSecond: number | undefined;
  /** How long its oldest has waited. */
  readonly waitedMs: number;
  readonly mostWaitMs: number;
}

/**
 * Whether one more task would wait too long: either the oldest task already has, or the tasks before it cannot all begin in
 * time, even if the lane did nothing else. The second condition holds before the first. Without it, far too many tasks would be
 * accepted before the oldest is old.
 */
export function isTooLong({ count, perSecond, waitedMs, mostWaitMs }: OwnQueue): boolean {
  if (waitedMs > mostWaitMs) return true;
  return isMeasured(perSecond) && count > perSecond * (mostWaitMs / 1000);
}

const LEAST_RETRY_SEC = 1;
const MOST_RETRY_SEC = 300;
/** Used if nothing leaves the queue, or nobody knows yet. */
const USUAL_RETRY_SEC = 30;

/** Seconds after which enough of a queue has begun that one more task would not wait too long. */
export function queueRetrySec({ count, perSecond, waitedMs, mostWaitMs }: OwnQueue): number {
  if (!isMeasured(perSecond)) return USUAL_RETRY_SEC;
  const tooMany = Math.max(count - perSecond * (mostWaitMs / 1000), count * (1 - mostWaitMs / waitedMs));
  return Math.min(MOST_RETRY_SEC, Math.max(LEAST_RETRY_SEC, Math.ceil(tooMany / perSecond)));
}

function isMeasured(perSecond: number | undefined): perSecond is number {
  return perSecond !== undefined && perSecond > 0;
}

const MOST_PRESSED_RETRY_SEC = 30;

/** Seconds after which an overloaded process may have capacity again: as long as it has been overloaded so far. */
export function pressedRetrySec(pressedMs: number): number {
  return Math.min(MOST_PRESSED_RETRY_SEC, Math.max(LEAST_RETRY_SEC, Math.ceil(pressedMs / 1000)));
}

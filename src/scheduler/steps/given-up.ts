import type { Step } from "../step.ts";

/** How often an upstream is asked in vain before a task past its deadline ends, because it may have finished meanwhile. */
const LATE_TRIES = 5;
/** So long after the deadline no other try is waited for: an upstream may ask for ten minutes between two of them. */
const LATE_MS = 120_000;

/**
 * Whether a task's deadline has passed, and its upstream has said nothing useful for several tries in a row, or the next one would come
 * too late.
 *
 * @param nextMs how long until the next try at least; without it, only tries count
 */
export async function isGivenUp(step: Step, nextMs?: number): Promise<boolean> {
  const { failures, deadlineAt = Number.POSITIVE_INFINITY } = step.task;
  const isTooLate = nextMs !== undefined && step.deps.clock.now() + nextMs >= deadlineAt + LATE_MS;
  return (failures + 1 >= LATE_TRIES || isTooLate) && (await step.isLate());
}

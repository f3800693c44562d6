import type { TaskId } from "../ids.ts";

/** The longest time that anything may wait, whatever the clock says. Work that is due later than this becomes due now. */
export interface LongestDelays {
  readonly taskMs: number;
  readonly callbackMs: number;
}

/** How many rows were changed. */
export interface Moved {
  readonly tasks: number;
  readonly callbacks: number;
}

/**
 * Keeps the stored times of live work right after the service could not work for a while, or after its clock was set. Every
 * write is one transaction; all writes of the store happen in the order of the calls.
 */
export interface TimeStore {
  /** Whether any task has not ended. */
  hasLiveTasks(): Promise<boolean>;
  /** When the service was last known to work; undefined before its first task. */
  lastBeat(): Promise<number | undefined>;
  /**
   * Records that the service works. The time since `lostSince`, in which it could not work, does not count: the deadline of
   * each live task is moved by the time since then, or since the task began, whichever is later.
   *
   * @returns how many deadlines were moved
   */
  beat(at: number, lostSince?: number): Promise<number>;
  /** Moves every stored time that live work waits for or is measured from. Used after a clock was set. */
  move(byMs: number): Promise<Moved>;
  /** Makes due now all work that nobody holds and that would wait longer than allowed. */
  hurry(now: number, longest: LongestDelays): Promise<Moved>;
  /** The deadline of a task after all writes that were requested before; undefined for a task without one. */
  deadlineOf(id: TaskId): Promise<number | undefined>;
}

import type { TaskId } from "../ids.ts";

/** The longest that anything may wait, whatever the clock says: what is due later is due now. */
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
 * Keeps the stored times of live work right when the service could not work for a while, or its clock was set. Every write is one
 * transaction, in the order of the calls with all other writes of the store.
 */
export interface TimeStore {
  /** Whether any task has not ended. */
  hasLiveTasks(): Promise<boolean>;
  /** When the service was last known to work; undefined before its first task. */
  lastBeat(): Promise<number | undefined>;
  /**
   * Records that the service works. What it could not work on since `lostSince` does not count: the deadline of each live task is moved by the
   * time since then, or since the task began, whichever is later.
   *
   * @returns how many deadlines were moved
   */
  beat(at: number, lostSince?: number): Promise<number>;
  /** Moves every stored time that live work waits for or is measured from. For a clock that was set. */
  move(byMs: number): Promise<Moved>;
  /** Makes due now what nobody holds and what would wait longer than anything may. */
  hurry(now: number, longest: LongestDelays): Promise<Moved>;
  /** The deadline of a task, as all writes requested before leave it; undefined for a task without one. */
  deadlineOf(id: TaskId): Promise<number | undefined>;
}

import type { TaskId } from "../../domain/ids.ts";
import { LONGEST_DELAY_MS } from "../../domain/task/backoff.ts";
import { createBucket, createTimes } from "./bucket.ts";

/** The order in which the tasks of an account are polled. No second has more polls than the rate allows. */
export interface Turns {
  /** Takes the right to poll. @returns 0, or how long to wait; the task keeps its turn */
  take(task: TaskId, now: number): number;
}

/** A task that does not return for its turn, because it has ended, loses the turn after this time. */
const TURN_KEPT_MS = 60_000;
/** Turns are further apart than the rate requires, so that there is room for late tasks. */
const ROOM = 1.1;
/** Polls need different times to reach their upstream. Even if these vary by 50 ms, no second has too many. */
const SECOND_MS = 1_050;

/** @param perMinute undefined: there is no limit */
export function turnsOf(perMinute: number | undefined): Turns | undefined {
  if (perMinute === undefined) return undefined;
  const intervalMs = 60_000 / perMinute;
  const planned = createBucket(() => intervalMs * ROOM);
  const sent = createTimes(Math.max(1, Math.ceil(perMinute / 60)), SECOND_MS);
  const turns = new Map<TaskId, number>();
  /** The latest turn that a late task got. */
  let latestLate = Number.NEGATIVE_INFINITY;

  /** The turn of a task that arrives while the second is full because of late tasks. */
  function lateTurn(): number {
    latestLate = Math.max(sent.openAt(), latestLate + intervalMs);
    return latestLate;
  }

  return {
    take(task, now) {
      forgetBefore(turns, now - TURN_KEPT_MS);
      const given = turns.get(task) ?? planned.take(now);
      const turn = given <= now && sent.openAt() > now ? lateTurn() : given;
      if (turn > now) {
        turns.set(task, turn);
        return Math.min(LONGEST_DELAY_MS, turn - now);
      }
      turns.delete(task);
      sent.add(now);
      return 0;
    },
  };
}

/** Forgets the turns before a time. They are given nearly in the order of their times. */
export function forgetBefore(turns: Map<TaskId, number>, time: number): void {
  for (const [task, turn] of turns) {
    if (turn >= time) return;
    turns.delete(task);
  }
}

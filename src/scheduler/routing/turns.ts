import type { TaskId } from "../../domain/ids.ts";
import { LONGEST_DELAY_MS } from "../../domain/task/backoff.ts";
import { createBucket, createTimes } from "./bucket.ts";

/** The order in which the tasks of an account are polled. No second has more polls than the rate. */
export interface Turns {
  /** Takes the right to poll. @returns 0, or how long to wait; the task keeps its turn */
  take(task: TaskId, now: number): number;
}

/** A task that does not come back for its turn, because it has ended, loses it after this time. */
const TURN_KEPT_MS = 60_000;
/** Turns are further apart than the rate asks for, so that there is room for those that come late. */
const ROOM = 1.1;
/** Polls reach their upstream sooner or later after they are sent: no second has too many though they vary by 50 ms. */
const SECOND_MS = 1_050;

/** @param perMinute undefined: there is no limit */
export function turnsOf(perMinute: number | undefined): Turns | undefined {
  if (perMinute === undefined) return undefined;
  const intervalMs = 60_000 / perMinute;
  const planned = createBucket(() => intervalMs * ROOM);
  const sent = createTimes(Math.max(1, Math.ceil(perMinute / 60)), SECOND_MS);
  const turns = new Map<TaskId, number>();
  /** The latest turn that was given to a task that came late. */
  let latestLate = Number.NEGATIVE_INFINITY;

  /** The turn of a task that comes while the second is full, because others came late. */
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

/** Turns are given nearly in the order of their times. */
function forgetBefore(turns: Map<TaskId, number>, time: number): void {
  for (const [task, turn] of turns) {
    if (turn >= time) return;
    turns.delete(task);
  }
}

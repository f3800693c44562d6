import type { Database } from "bun:sqlite";
import type { Start } from "../../../domain/ports/claims.ts";
import type { NewTask } from "../../../domain/task/task.ts";
import { freeCapacity, hasRoom } from "../../free-capacity.ts";
import { prepareNextReady } from "./next-ready.ts";
import { preparePools } from "./pools.ts";
import type { Turns } from "./turns.ts";

export type Queues = ReturnType<typeof prepareQueues>;

/** What tells which tasks may start. */
export function prepareQueues(db: Database, turns: Turns) {
  return { pools: preparePools(db), ready: prepareNextReady(db, turns) };
}

/**
 * Returns a function that lets a new task start where `claim` would take it next: no other waits for its lane, and there is room.
 * It is called before the task is stored, and returns whether the task has its turn.
 */
export function prepareTakeTurn({ pools, ready }: Queues) {
  return ({ lane, setup = "" }: NewTask, account: number, start: Start): boolean => {
    const { at } = start.intent;
    if (ready.has(lane, false) || pools.hasDueWaiting(lane, at)) return false;
    if (!hasRoom(freeCapacity(start, pools.countUnderWay()), lane)) return false;
    ready.takeNew(lane, setup, account, at);
    return true;
  };
}

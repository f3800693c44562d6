import type { Database } from "bun:sqlite";
import type { LaneId } from "../../../domain/ids.ts";
import type { Start } from "../../../domain/ports/claims.ts";
import type { NewTask } from "../../../domain/task/task.ts";
import { type FreeCapacity, freeCapacity, hasRoom, occupy } from "../../free-capacity.ts";
import type { Connection } from "../connection.ts";
import { prepareNextReady } from "./next-ready.ts";
import { preparePools } from "./pools.ts";
import type { Turns } from "./turns.ts";

export type Queues = ReturnType<typeof prepareQueues>;

export type Starts = ReturnType<typeof prepareStarts>;

/** What tells which tasks may start. */
export function prepareQueues(db: Database, turns: Turns) {
  return { pools: preparePools(db), ready: prepareNextReady(db, turns) };
}

/** What tasks leave free that are stored one after the other. */
interface Room {
  readonly free: FreeCapacity;
  /** Lanes for which no other task waits. */
  readonly passable: Set<LaneId>;
  begun: number;
}

/**
 * Lets new tasks start where `claim` would take them next: no other waits for the lane, and there is room. Of tasks that are stored one
 * after the other, another starts only while more room is left than they have taken: where there is little, accounts take turns, which
 * is up to a claim.
 */
export function prepareStarts({ onUndone }: Pick<Connection, "onUndone">, { pools, ready }: Queues) {
  let room: Room | undefined;
  /** Before something else is written, or after writes were undone. */
  const forget = () => {
    room = undefined;
  };
  onUndone(forget);

  function isPassable(lane: LaneId, now: number): boolean {
    if (room?.passable.has(lane) === true) return true;
    return !ready.has(lane, false) && !pools.hasDueWaiting(lane, now);
  }

  return {
    forget,
    /** A task that did not start waits for the lane. */
    waits: (lane: LaneId) => void room?.passable.delete(lane),
    /** Called before the task is stored. @returns whether it has its turn */
    take({ lane, setup = "" }: NewTask, account: number, start: Start): boolean {
      const { at } = start.intent;
      if (!isPassable(lane, at)) return false;
      room ??= { free: freeCapacity(start, pools.countUnderWay()), passable: new Set(), begun: 0 };
      room.passable.add(lane);
      if (!hasRoom(room.free, lane, room.begun)) return false;
      occupy(room.free, lane);
      room.begun += 1;
      ready.takeNew(lane, setup, account, at);
      return true;
    },
  };
}

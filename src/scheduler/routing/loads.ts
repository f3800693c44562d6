import type { LaneId } from "../../domain/ids.ts";
import type { LaneCount } from "../../domain/overview.ts";
import { awaitsResults, type Task } from "../../domain/task/task.ts";
import type { Transition } from "../../domain/task/transition.ts";

/** How busy accounts are, as far as this process knows. */
export interface Loads {
  /** Starts again from stored counts. @param counts tasks of an earlier process and of others that share the store */
  start(counts: readonly LaneCount[]): void;
  /** Waiting tasks and tasks under way, relative to the capacity; above 1 if more wait than can start. */
  share(lane: LaneId): number;
  /** How long one more task would wait for its start, measured in durations of a task; 0 if there is room. */
  turns(lane: LaneId): number;
  /** How many more tasks would have room at once. */
  free(lane: LaneId): number;
  /** Tasks that wait. */
  queued(lane: LaneId): number;
  /** A task will wait for the lane. */
  assigned(lane: LaneId): void;
  /** A task that was assigned to the lane was refused after all. */
  unassigned(lane: LaneId): void;
  /** A task of the lane is under way. */
  began(lane: LaneId): void;
  /** How many of the lane's tasks began since the start of this process. */
  begun(lane: LaneId): number;
  /** A task has moved on. */
  moved(
    task: Pick<Task, "lane" | "stage" | "failures">,
    to: Pick<Transition, "to" | "lane" | "failures">,
  ): void;
  /** No task waits any more. */
  queueEmpty(): void;
}

/** @param capacityOf how many tasks of a lane may be under way */
export function createLoads(capacityOf: (lane: LaneId) => number | undefined): Loads {
  const underWay = new Map<LaneId, number>();
  /** An estimate: a task that is cancelled while it waits, or taken over, counts there until the next count. */
  const waiting = new Map<LaneId, number>();
  const begun = new Map<LaneId, number>();
  const add = (counts: Map<LaneId, number>, lane: LaneId, count: number) =>
    void counts.set(lane, Math.max(0, (counts.get(lane) ?? 0) + count));
  const countOf = (lane: LaneId) => (underWay.get(lane) ?? 0) + (waiting.get(lane) ?? 0);
  return {
    start(counts) {
      underWay.clear();
      waiting.clear();
      for (const count of counts) {
        underWay.set(count.lane, count.underWay - count.awaiting);
        waiting.set(count.lane, count.queued);
      }
    },
    share: (lane: LaneId) => countOf(lane) / (capacityOf(lane) ?? 1),
    turns(lane: LaneId) {
      const capacity = capacityOf(lane) ?? 1;
      return Math.max(0, countOf(lane) - capacity + 1) / capacity;
    },
    free: (lane: LaneId) => Math.max(0, (capacityOf(lane) ?? 0) - countOf(lane)),
    queued: (lane: LaneId) => waiting.get(lane) ?? 0,
    assigned: (lane: LaneId) => add(waiting, lane, 1),
    unassigned: (lane: LaneId) => add(waiting, lane, -1),
    began(lane: LaneId) {
      add(waiting, lane, -1);
      add(underWay, lane, 1);
      add(begun, lane, 1);
    },
    begun: (lane: LaneId) => begun.get(lane) ?? 0,
    moved({ lane, stage, failures }, { to, lane: next = lane, failures: after = failures }) {
      const hadPlace = hasPlace({ stage, failures });
      const keepsPlace = hasPlace({ stage: to, failures: after });
      if (hadPlace && !keepsPlace) add(underWay, lane, -1);
      if (!hadPlace && keepsPlace) add(underWay, next, 1);
      // Also a task that waits on, here or elsewhere, because its inputs were fetched or it was put off.
      if (stage === "queued") add(waiting, lane, -1);
      if (to === "queued") add(waiting, next, 1);
    },
    queueEmpty: () => waiting.clear(),
  };
}

/** Whether a task holds a place of its lane. */
function hasPlace(task: Pick<Task, "stage" | "failures">): boolean {
  return task.stage !== "queued" && task.stage !== "terminal" && !awaitsResults(task);
}

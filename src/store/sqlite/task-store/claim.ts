import type { LaneId, LeaseToken, TaskId } from "../../../domain/ids.ts";
import type { Claimed, ClaimQuery, LaneCapacity } from "../../../domain/ports/claims.ts";
import type { Lease } from "../../../domain/task/task.ts";
import {
  type FreeCapacity,
  freeCapacity,
  fullSiblings,
  hasRoom,
  occupy,
  rotated,
  sources,
} from "../../free-capacity.ts";
import type { Connection } from "../connection.ts";
import type { Advance } from "./advance.ts";
import { ATTEMPT_COLUMNS, type AttemptRow, toAttempt } from "./attempt-table.ts";
import type { NextReady } from "./next-ready.ts";
import type { DueTask, Pools } from "./pools.ts";
import type { Queues } from "./start.ts";
import { TASK_COLUMNS, type TaskRow, taskNumber, toTask } from "./task-table.ts";

/** Tasks of one lane that one claim moves from `waiting` to `ready`, so that a lane that is back does not stall others. */
export const PROMOTED_AT_ONCE = 500;

const NONE: ReadonlySet<TaskId> = new Set();

/** The body of `TaskStore.claim`. Who is next in a lane is up to `prepareNextReady`. */
export function prepareClaim(
  connection: Connection,
  { newLeaseToken, queues, advance }: { newLeaseToken: () => LeaseToken; queues: Queues; advance: Advance },
): (query: ClaimQuery) => Claimed {
  const { pools, ready } = queues;
  const lease = prepareLease(connection, newLeaseToken);
  const takeUnderWay = prepareTakeUnderWay(pools, lease);
  const nextDueAt = prepareNextDueAt(pools, ready);
  let turn = 0;

  /** Takes a task of the lane itself, else one of a sibling that has no room. */
  function takeNextOf(place: LaneCapacity, free: FreeCapacity, query: ClaimQuery): Lease | undefined {
    const { lane } = place;
    for (const source of [lane, ...fullSiblings(place, free)]) {
      const next = ready.take(source, lane, query.now);
      if (next !== undefined) return lease(next, query.now + query.leaseMs, lane);
    }
    return undefined;
  }

  /** Takes one task from each lane in turn until the limit, the capacity or the queues are exhausted. */
  function takeQueued(query: ClaimQuery, free: FreeCapacity, wanted: number): Lease[] {
    const leases: Lease[] = [];
    let places = rotated(query.lanes, turn++);
    while (places.length > 0) {
      places = places.filter((place) => {
        if (leases.length >= wanted || !hasRoom(free, place.lane)) return false;
        const taken = takeNextOf(place, free, query);
        if (taken === undefined) return false;
        leases.push(taken);
        occupy(free, place.lane);
        return true;
      });
    }
    return leases;
  }

  return (query) => {
    const hasQueued = pools.hasQueued();
    if (hasQueued) for (const { lane } of query.lanes) pools.promote(lane, query.now, PROMOTED_AT_ONCE);
    const underWay = takeUnderWay(query);
    if (!hasQueued) return { leases: underWay, nextDueAt: nextDueAt(query), room: "all", isQueueEmpty: true };
    const free = freeCapacity(query, pools.countUnderWay());
    const queued = takeQueued(query, free, query.limit - underWay.length);
    const open = query.lanes.filter(({ lane }) => hasRoom(free, lane)).length;
    const room = open === 0 ? "none" : open < query.lanes.length ? "some" : "all";
    const begun = beginAtOnce(advance, queued, query);
    return { leases: [...underWay, ...queued], begun, nextDueAt: nextDueAt(query, free), room };
  };
}

/** Begins those tasks for which there is an intent. */
function beginAtOnce(
  advance: Advance,
  queued: readonly Lease[],
  { intentFor }: ClaimQuery,
): ReadonlySet<TaskId> | undefined {
  if (intentFor === undefined) return undefined;
  const begun = queued.filter((lease) => {
    const intent = intentFor(lease);
    return intent !== undefined && advance.begin(lease, intent) === "begun";
  });
  return new Set(begun.map(({ task }) => task.id));
}

function prepareNextDueAt(pools: Pools, ready: NextReady) {
  /** @param free what may still start; undefined where nothing is queued */
  return (query: ClaimQuery, free?: FreeCapacity): number | undefined => {
    const lanes = free === undefined ? [] : sources(query, free);
    const all = free === undefined ? [] : query.lanes;
    // A lane with room has ready tasks left only if the limit was reached.
    const isLeft = (lane: LaneId) => ready.has(lane, free === undefined || !hasRoom(free, lane));
    if (lanes.some(isLeft)) return query.now;
    const times = [pools.firstUnderWay(), ...all.map(({ lane }) => pools.firstWaiting(lane))];
    const next = Math.min(...times.filter((time) => time !== undefined));
    return next === Number.POSITIVE_INFINITY ? undefined : Math.max(next, query.now);
  };
}

/** Returns a function that leases the due tasks under way. Tasks that the caller still works on keep their lease. */
function prepareTakeUnderWay(pools: Pools, lease: (id: TaskId, until: number) => Lease) {
  return (query: ClaimQuery): Lease[] => {
    const until = query.now + query.leaseMs;
    const { held = NONE } = query;
    const due = pools.dueUnderWay(query.now, query.limit + held.size);
    const isHeld = (task: DueTask) => task.is_leased === 1 && held.has(task.id);
    for (const task of due) if (isHeld(task)) pools.extend(task.id, until);
    return due
      .filter((task) => !isHeld(task))
      .slice(0, query.limit)
      .map(({ id }) => lease(id, until));
  };
}

/** Returns a function that gives a task a new lease token and reads the task and its latest attempt. */
export function prepareLease({ db }: Connection, newLeaseToken: () => LeaseToken) {
  const take = db.prepare<TaskRow, [token: string, until: number, lane: string | null, id: string]>(
    `update task set lease_token = ?, due_at = ?, pool = 'under_way', lane = coalesce(?, lane) where id = ? returning ${TASK_COLUMNS}`,
  );
  const latestAttempt = db.prepare<AttemptRow, [id: string]>(
    `select ${ATTEMPT_COLUMNS} from attempt where task_number = ${taskNumber("?")} order by sequence desc limit 1`,
  );
  return (id: TaskId, until: number, lane?: LaneId): Lease => {
    const token = newLeaseToken();
    const row = take.get(token, until, lane ?? null, id);
    if (row === null) throw new Error(`Task ${id} is in an index, but not in the table.`);
    const latest = row.attempts > 0 ? latestAttempt.get(id) : null;
    return { token, task: toTask(row), attempt: latest === null ? undefined : toAttempt(latest) };
  };
}

import type { LaneId, LeaseToken, TaskId } from "../../../domain/ids.ts";
import type { Claimed, ClaimQuery, LaneCapacity } from "../../../domain/ports/claims.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
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
import { takeLock } from "../locks.ts";
import type { Session } from "../session.ts";
import { LaneTurns } from "./lane-turns.ts";
import { leaseAll, type Wanted } from "./lease.ts";
import { NextReady } from "./next-ready.ts";
import { type DueTask, pools } from "./pools.ts";

interface Deps {
  readonly newLeaseToken: () => LeaseToken;
  /** Whether whoever let a lease end is gone. */
  readonly isSteady: () => boolean;
  readonly begin: TaskStore["begin"];
}

/** What one claim does, in its transaction. */
interface Claiming {
  readonly session: Session;
  readonly query: ClaimQuery;
  /** In which order lanes take tasks. */
  readonly turn: number;
  readonly newLeaseToken: () => LeaseToken;
  readonly isSteady: () => boolean;
}

const NONE: ReadonlySet<TaskId> = new Set();

/**
 * The body of `TaskStore.claim`. One process claims at a time, by a lock, so that capacities and turns hold for all. It waits for no
 * task that another transaction holds: such a task is left for the next claim. Tasks are begun apart from that, since a change of status
 * needs the row of the task's account.
 */
export function prepareClaim(connection: Connection, { begin, ...deps }: Deps): TaskStore["claim"] {
  let previous: Promise<unknown> = Promise.resolve();
  let turn = 0;

  /** Claims of one process wait here, and not for a connection of the pool each. */
  function afterOthers<T>(run: () => Promise<T>): Promise<T> {
    const result = previous.then(run, run);
    previous = result.catch(() => {});
    return result;
  }

  return async (query) => {
    const order = turn++;
    const { queued, ...claimed } = await afterOthers(() =>
      connection.write((session) => claimOnce({ ...deps, session, query, turn: order })),
    );
    if (claimed.isQueueEmpty || query.intentFor === undefined) return claimed;
    return { ...claimed, begun: await beginAtOnce(begin, queued, query.intentFor) };
  };
}

/** Begins those tasks for which there is an intent. One that cannot be begun now stays leased, and is begun by itself. */
async function beginAtOnce(
  begin: TaskStore["begin"],
  queued: readonly Lease[],
  intentFor: NonNullable<ClaimQuery["intentFor"]>,
): Promise<ReadonlySet<TaskId>> {
  const results = await Promise.allSettled(
    queued.map(async (lease) => {
      const intent = intentFor(lease);
      return intent !== undefined && (await begin(lease, intent)) === "begun" ? [lease.task.id] : [];
    }),
  );
  return new Set(results.flatMap((result) => (result.status === "fulfilled" ? result.value : [])));
}

async function claimOnce(claiming: Claiming): Promise<Claimed & { readonly queued: readonly Lease[] }> {
  const { session, query } = claiming;
  const { held = NONE } = query;
  const [, due, hasQueued, counts] = await Promise.all([
    takeLock(session, "claimTasks"),
    pools.dueUnderWay(session, query.now, query.limit + held.size),
    pools.hasQueued(session),
    pools.countUnderWay(session),
  ]);
  if (!hasQueued) {
    const [leases, nextDueAt] = await Promise.all([
      leaseUnderWay(claiming, due),
      pools.nextDueAt(session, { now: query.now, own: [], movable: [], all: [] }),
    ]);
    return { leases, queued: [], nextDueAt, room: "all", isQueueEmpty: true };
  }
  const free = freeCapacity(query, counts);
  const lanes = query.lanes.map(({ lane }) => lane);
  const from = sources(query, free);
  const [underWay, , ready, turns] = await Promise.all([
    leaseUnderWay(claiming, due),
    pools.promote(session, lanes, query.now),
    pools.withReady(session, from),
    LaneTurns.read(session, lanes),
  ]);
  const wanted = await chooseQueued(claiming, {
    ...{ free, turns, ready: new Set(ready) },
    limit: query.limit - underWay.length,
  });
  const left = sources(query, free);
  const [queued, , nextDueAt] = await Promise.all([
    leaseAll(session, wanted, query.now + query.leaseMs),
    turns.write(session, query.now),
    pools.nextDueAt(session, {
      now: query.now,
      own: left.filter((lane) => hasRoom(free, lane)),
      movable: left.filter((lane) => !hasRoom(free, lane)),
      all: lanes,
    }),
  ]);
  const open = query.lanes.filter(({ lane }) => hasRoom(free, lane)).length;
  const room = open === 0 ? "none" : open < query.lanes.length ? "some" : "all";
  return { leases: [...underWay, ...queued], queued, nextDueAt, room };
}

/**
 * Leases the due tasks under way. Tasks that the caller still works on keep their lease. So do those of others after the database was
 * away: they could not renew it, and have its length to do so now.
 */
async function leaseUnderWay(
  { session, query, newLeaseToken, isSteady }: Claiming,
  due: readonly DueTask[],
): Promise<Lease[]> {
  const until = query.now + query.leaseMs;
  const { held = NONE } = query;
  const endsLeases = isSteady();
  const isHeld = (task: DueTask) => task.is_leased && (held.has(task.id) || !endsLeases);
  const others = due.filter((task) => !isHeld(task)).slice(0, query.limit);
  const wanted = others.map(
    ({ id }): Wanted => ({ task_id: id, token: newLeaseToken(), from_pool: "under_way", to_lane: null }),
  );
  const [leases] = await Promise.all([
    leaseAll(session, wanted, until),
    pools.extend(
      session,
      due.filter(isHeld).map(({ id }) => id),
      until,
    ),
  ]);
  return leases;
}

/** Takes one task for each lane in turn until the limit, the capacity or the queues are exhausted. */
async function chooseQueued(
  { session, query, turn, newLeaseToken }: Claiming,
  of: { free: FreeCapacity; turns: LaneTurns; ready: ReadonlySet<LaneId>; limit: number },
): Promise<Wanted[]> {
  const { free, turns, ready, limit } = of;
  const next = new NextReady(session, turns, limit);
  const wanted: Wanted[] = [];

  /** Takes a task of the lane itself, else one of a sibling that has no room. */
  async function takeFor(place: LaneCapacity): Promise<boolean> {
    for (const source of [place.lane, ...fullSiblings(place, free)]) {
      const id = ready.has(source) ? await next.take(source, place.lane, query.now) : undefined;
      if (id === undefined) continue;
      wanted.push({ task_id: id, token: newLeaseToken(), from_pool: "ready", to_lane: place.lane });
      return true;
    }
    return false;
  }

  let places = rotated(query.lanes, turn);
  if (limit <= 0) return wanted;
  const open = places.filter(({ lane }) => ready.has(lane) && hasRoom(free, lane));
  await next.warm(
    open.map(({ lane }) => lane),
    query.now,
  );
  while (places.length > 0) {
    const going: LaneCapacity[] = [];
    for (const place of places) {
      if (wanted.length >= limit || !hasRoom(free, place.lane) || !(await takeFor(place))) continue;
      going.push(place);
      occupy(free, place.lane);
    }
    places = going;
  }
  return wanted;
}

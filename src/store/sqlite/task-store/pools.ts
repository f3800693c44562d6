import type { Database } from "bun:sqlite";
import type { LaneId, TaskId } from "../../../domain/ids.ts";
import type { LaneUse } from "../../free-capacity.ts";
import { AWAITS_RESULTS } from "./task-table.ts";

export interface DueTask {
  readonly id: TaskId;
  readonly is_leased: 0 | 1;
}

export type Pools = ReturnType<typeof preparePools>;

/** Raw statements, each pinned to its partial index: a scan would grow with the table unnoticed. */
export function preparePools(db: Database) {
  const due = db.prepare<DueTask, [now: number, limit: number]>(
    `select id, lease_token is not null as is_leased from task indexed by task_under_way
     where pool = 'under_way' and due_at <= ? order by due_at limit ?`,
  );
  const extend = db.prepare<never, [until: number, id: string]>(
    "update task set due_at = ? where id = ? and pool = 'under_way'",
  );
  const anyReady = db.prepare(`select 1 from task indexed by task_ready where pool = 'ready' limit 1`);
  const anyWaiting = db.prepare(`select 1 from task indexed by task_waiting where pool = 'waiting' limit 1`);
  const counts = db.prepare<{ lane: LaneId; count: number }, []>(
    `select lane, count(*) as count from task indexed by task_under_way where pool = 'under_way' group by lane`,
  );
  const awaiting = db.prepare<{ lane: LaneId; count: number }, []>(
    `select lane, count(*) as count from task indexed by task_awaits_results where ${AWAITS_RESULTS} group by lane`,
  );
  const anyDueWaiting = db.prepare<unknown, [lane: string, now: number]>(
    `select 1 from task indexed by task_waiting where pool = 'waiting' and lane = ? and due_at <= ? limit 1`,
  );
  const promote = db.prepare<never, [lane: string, now: number, limit: number]>(
    `update task set pool = case when deadline_at <= ?2 then 'under_way' else 'ready' end where id in
       (select id from task indexed by task_waiting
        where pool = 'waiting' and lane = ?1 and due_at <= ?2 order by due_at limit ?3)`,
  );
  const firstUnderWay = db.prepare<{ due_at: number }, []>(
    `select due_at from task indexed by task_under_way where pool = 'under_way' order by due_at limit 1`,
  );
  const firstWaiting = db.prepare<{ due_at: number }, [lane: string]>(
    `select due_at from task indexed by task_waiting where pool = 'waiting' and lane = ? order by due_at limit 1`,
  );
  const hasDueWaiting = (lane: LaneId, now: number) => anyDueWaiting.get(lane, now) !== null;
  return {
    dueUnderWay: (now: number, limit: number) => due.all(now, limit),
    extend: (id: TaskId, until: number) => void extend.run(until, id),
    hasQueued: () => anyReady.get() !== null || anyWaiting.get() !== null,
    countUnderWay(): LaneUse[] {
      const used = counts.all();
      if (used.length === 0) return used;
      const without = awaiting.all();
      if (without.length === 0) return used;
      const byLane = new Map(without.map(({ lane, count }) => [lane, count]));
      return used.map((use) => ({ ...use, awaiting: byLane.get(use.lane) }));
    },
    hasDueWaiting,
    /** Has due tasks wait for a place in their lane. One whose deadline has passed needs no place to end. */
    promote(lane: LaneId, now: number, limit: number): void {
      if (hasDueWaiting(lane, now)) promote.run(lane, now, limit);
    },
    firstUnderWay: () => firstUnderWay.get()?.due_at,
    firstWaiting: (lane: LaneId) => firstWaiting.get(lane)?.due_at,
  };
}

import type { LaneId, TaskId } from "../../../domain/ids.ts";
import type { LaneUse } from "../../free-capacity.ts";
import { PROMOTED_AT_ONCE } from "../../sqlite/task-store/claim.ts";
import { IS_MOVABLE } from "../../sqlite/task-store/next-ready.ts";
import { AWAITS_RESULTS } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

export interface DueTask {
  readonly id: TaskId;
  readonly is_leased: boolean;
}

// A task that another transaction holds is left for later: that one may wait for another task of this one.
const DUE = statement<DueTask, [now: number, limit: number]>(
  `select id, lease_token is not null as is_leased from task
   where pool = 'under_way' and due_at <= $1 order by due_at limit $2 for no key update skip locked`,
);
const EXTEND = statement<never, [until: number, ids: readonly TaskId[]]>(
  "update task set due_at = $1 where id = any($2::text[]) and pool = 'under_way'",
);
const HAS_QUEUED = statement<{ found: boolean }>(
  `select exists (select 1 from task where pool = 'ready') or exists (select 1 from task where pool = 'waiting') as found`,
);
const COUNTS = statement<LaneUse>(
  `select lane, (count(*) filter (where not is_awaiting))::bigint as count, (count(*) filter (where is_awaiting))::bigint as awaiting
   from (select lane, false as is_awaiting from task where pool = 'under_way'
     union all select lane, true from task where ${AWAITS_RESULTS}) as used
   group by lane`,
);
const PROMOTE = statement<never, [lanes: readonly LaneId[], now: number]>(
  `with due as (
     select task.number from unnest($1::text[]) as given (lane) cross join lateral (
       select number from task where pool = 'waiting' and task.lane = given.lane and due_at <= $2
       order by due_at limit ${PROMOTED_AT_ONCE} for no key update skip locked
     ) as task
   )
   update task set pool = case when deadline_at <= $2 then 'under_way' else 'ready' end from due where task.number = due.number`,
);
const WITH_READY = statement<{ lane: LaneId }, [lanes: readonly LaneId[]]>(
  `select lane from unnest($1::text[]) as given (lane)
   where exists (select 1 from task where pool = 'ready' and task.lane = given.lane)`,
);

interface NextRow {
  readonly is_left: boolean;
  readonly under_way: number | null;
  readonly waiting: number | null;
}

const isLeft = (lanes: string, also: string) =>
  `exists (select 1 from unnest(${lanes}::text[]) as given (lane)
     where exists (select 1 from task where pool = 'ready' and task.lane = given.lane ${also}))`;
const NEXT = statement<NextRow, [own: readonly LaneId[], movable: readonly LaneId[], all: readonly LaneId[]]>(
  `select ${isLeft("$1", "")} or ${isLeft("$2", IS_MOVABLE)} as is_left,
     (select due_at from task where pool = 'under_way' order by due_at limit 1) as under_way,
     (select min(first.due_at) from unnest($3::text[]) as given (lane) cross join lateral
        (select due_at from task where pool = 'waiting' and task.lane = given.lane order by due_at limit 1) as first) as waiting`,
);

/** Where `claim` finds live tasks. Each statement reads a partial index. */
export const pools = {
  /** Tasks under way whose time or lease has ended. They stay as they are until the transaction ends. */
  dueUnderWay: (session: Session, now: number, limit: number) => DUE.all(session, now, limit),
  async extend(session: Session, ids: readonly TaskId[], until: number): Promise<void> {
    if (ids.length > 0) await EXTEND.run(session, until, ids);
  },
  hasQueued: async (session: Session) => (await HAS_QUEUED.get(session))?.found === true,
  countUnderWay: (session: Session) => COUNTS.all(session),
  /** Has due tasks wait for a place in their lanes. One whose deadline has passed needs no place to end. */
  async promote(session: Session, lanes: readonly LaneId[], now: number): Promise<void> {
    if (lanes.length > 0) await PROMOTE.run(session, lanes, now);
  },
  /** Those of the lanes that have a ready task. */
  async withReady(session: Session, lanes: readonly LaneId[]): Promise<LaneId[]> {
    return lanes.length === 0 ? [] : (await WITH_READY.all(session, lanes)).map(({ lane }) => lane);
  },
  /**
   * When a claim could find something: in lanes that may start all of their tasks, and in those whose tasks others may take over. In all, a
   * waiting task comes due.
   */
  async nextDueAt(
    session: Session,
    {
      now,
      own,
      movable,
      all,
    }: { now: number; own: readonly LaneId[]; movable: readonly LaneId[]; all: readonly LaneId[] },
  ): Promise<number | undefined> {
    const row = await NEXT.get(session, own, movable, all);
    if (row === undefined || row.is_left) return now;
    const times = [row.under_way, row.waiting].filter((time) => time !== null);
    return times.length === 0 ? undefined : Math.max(Math.min(...times), now);
  },
};

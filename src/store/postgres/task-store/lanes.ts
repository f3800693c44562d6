import type { AccountId, LaneId } from "../../../domain/ids.ts";
import type { LaneCount, LaneLoad, OwnReady } from "../../../domain/overview.ts";
import { accountNumber } from "../../sqlite/account-store/account-table.ts";
import { MOST_SETUPS } from "../../sqlite/task-store/lanes.ts";
import { AWAITS_RESULTS } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";
import { steps } from "./steps.ts";

const QUEUED = statement<{ lane: LaneId }>(
  `select lane from (${steps("lane", "pool = 'ready'")}) as ready
   union select lane from (${steps("lane", "pool = 'waiting'")}) as waiting order by lane`,
);

/** The body of `TaskStore.queuedLanes`: goes through the indexes from lane to lane, however many tasks each has. */
export async function queuedLanes(session: Session): Promise<LaneId[]> {
  return (await QUEUED.all(session)).map(({ lane }) => lane);
}

const IN_LANE = "pool = 'ready' and lane = $1";
const OWN = `${IN_LANE} and task.setup = used.setup and account_number = ${accountNumber("$2")}`;
const OWN_READY = statement<
  { count: number; oldest_at: number | null },
  [lane: LaneId, account: AccountId, most: number]
>(
  `select least(coalesce(sum(counted.count), 0), $3)::bigint as count, min(oldest.created_at) as oldest_at
   from (${steps("setup", IN_LANE)} limit ${MOST_SETUPS}) as used
   cross join lateral (select created_at from task where ${OWN} order by id limit 1) as oldest
   cross join lateral (select count(*) from (select 1 from task where ${OWN} limit $3) as own) as counted`,
);

/** The body of `TaskStore.ownReady`: reads in the index at most as many rows of each setup as it counts. */
export async function ownReady(
  session: Session,
  lane: LaneId,
  account: AccountId,
  most: number,
): Promise<OwnReady> {
  const found = await OWN_READY.get(session, lane, account, most);
  return { count: found?.count ?? 0, oldestAt: found?.oldest_at ?? undefined };
}

interface CountRow {
  readonly lane: LaneId;
  readonly queued: number;
  readonly under_way: number;
}

const COUNTS = statement<CountRow & { readonly awaiting: number }>(
  `select lane, count(*) filter (where pool <> 'under_way' and pool <> 'awaiting')::bigint as queued,
     count(*) filter (where pool = 'under_way')::bigint as under_way,
     count(*) filter (where pool = 'awaiting')::bigint as awaiting
   from (select lane, pool from task where pool = 'ready'
     union all select lane, pool from task where pool = 'waiting'
     union all select lane, pool from task where pool = 'under_way'
     union all select lane, 'awaiting' from task where ${AWAITS_RESULTS}) as live
   group by lane order by lane`,
);

/** The body of `TaskStore.laneCounts`: counts in indexes alone. */
export async function laneCounts(session: Session): Promise<LaneCount[]> {
  const rows = await COUNTS.all(session);
  return rows.map(({ under_way: underWay, ...counts }) => ({ ...counts, underWay }));
}

// A lane's oldest task that is ready is the one with the least id of an account's least ids, so that no row is read but these.
const LOADS = statement<CountRow & { readonly oldest_at: number | null }>(
  `select lane, sum(queued)::bigint as queued, sum(under_way)::bigint as under_way, min(oldest_at) as oldest_at from (
     select lane, count as queued, 0 as under_way, (select created_at from task where task.id = first) as oldest_at
     from (select lane, count(*), min(id) as first from task where pool = 'ready' group by lane, setup, account_number) as ready
     union all
     select lane, count(*), 0, min(created_at) from task where pool = 'waiting' group by lane
     union all
     select lane, 0, count(*), null from task where pool = 'under_way' group by lane) as part
   group by lane order by lane`,
);

/**
 * The body of `TaskStore.lanes`. What waits is counted in an index, and more takes longer: counters would be rows that every create and
 * every start of a task wait for. A copy of the database that lags a little may answer it.
 */
export async function laneLoads(session: Session): Promise<LaneLoad[]> {
  const rows = await LOADS.all(session);
  return rows.map(({ lane, queued, under_way: underWay, oldest_at }) => ({
    ...{ lane, queued, underWay },
    // To the second, as the port says.
    oldestAt: oldest_at === null ? undefined : oldest_at - (oldest_at % 1000),
  }));
}

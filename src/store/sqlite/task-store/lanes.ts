import type { Database } from "bun:sqlite";
import type { AccountId, LaneId } from "../../../domain/ids.ts";
import type { LaneCount, LaneLoad, OwnReady } from "../../../domain/overview.ts";
import type { LaneUse } from "../../free-capacity.ts";
import { accountNumber } from "../account-store/account-table.ts";
import { prepareBacklog } from "../backlog.ts";
import type { Pools } from "./pools.ts";

/** The body of `TaskStore.queuedLanes`: goes through the index from lane to lane, however many tasks each has. */
export function prepareQueuedLanes(db: Database): () => LaneId[] {
  const next = (["ready", "waiting"] as const).map((pool) =>
    db.prepare<{ lane: LaneId }, [after: string]>(
      `select lane from task indexed by task_${pool} where pool = '${pool}' and lane > ? order by lane limit 1`,
    ),
  );
  return () => {
    const lanes = new Set<LaneId>();
    for (const after of next)
      for (let row = after.get(""); row !== null; row = after.get(row.lane)) lanes.add(row.lane);
    return [...lanes].sort();
  };
}

/** Setups at which `ownReady` looks. Few lanes have as many at one time. */
export const MOST_SETUPS = 32;

/** The body of `TaskStore.ownReady`: reads in the index as many rows as it counts. */
export function prepareOwnReady(db: Database) {
  const from = "from task indexed by task_ready where pool = 'ready' and lane = ?1";
  const setupFrom = (bound: string) =>
    db.prepare<{ setup: string }, [lane: LaneId, setup: string]>(
      `select setup ${from} and setup ${bound} ?2 order by setup limit 1`,
    );
  const [first, next] = [setupFrom(">="), setupFrom(">")];
  const oldest = db.prepare<{ created_at: number }, [lane: LaneId, setup: string, account: AccountId]>(
    `select created_at ${from} and setup = ?2 and account_number = ${accountNumber("?3")} order by id limit 1`,
  );
  const counted = db.prepare<
    { count: number },
    [lane: LaneId, setup: string, account: AccountId, most: number]
  >(
    `select count(*) as count from (select 1 ${from} and setup = ?2 and account_number = ${accountNumber("?3")} limit ?4)`,
  );
  return (lane: LaneId, accountId: AccountId, most: number): OwnReady => {
    let [count, oldestAt]: [number, number | undefined] = [0, undefined];
    let row = first.get(lane, "");
    for (let looked = 0; row !== null && looked < MOST_SETUPS; looked++) {
      const at = oldest.get(lane, row.setup, accountId)?.created_at;
      if (at !== undefined) {
        oldestAt = Math.min(at, oldestAt ?? at);
        count += counted.get(lane, row.setup, accountId, most - count)?.count ?? 0;
      }
      row = next.get(lane, row.setup);
    }
    return { count, oldestAt };
  };
}

/** The body of `TaskStore.laneCounts`: reads what waits in indexes alone. */
export function prepareLaneCounts(db: Database, pools: Pick<Pools, "countUnderWay">): () => LaneCount[] {
  const queued = (["ready", "waiting"] as const).map((pool) =>
    db.prepare<LaneUse, []>(
      `select lane, count(*) as count from task indexed by task_${pool} where pool = '${pool}' group by lane`,
    ),
  );
  return () => {
    const lanes = new Map<LaneId, LaneCount>();
    const of = (lane: LaneId) => lanes.get(lane) ?? { lane, queued: 0, underWay: 0, awaiting: 0 };
    for (const statement of queued)
      for (const { lane, count } of statement.all())
        lanes.set(lane, { ...of(lane), queued: of(lane).queued + count });
    for (const { lane, count, awaiting = 0 } of pools.countUnderWay())
      lanes.set(lane, { ...of(lane), underWay: count, awaiting });
    return [...lanes.values()];
  };
}

/** The body of `TaskStore.lanes`. Tasks under way are counted one by one: there are never more than may run at once. */
export function prepareLanes(db: Database): () => LaneLoad[] {
  const queued = prepareBacklog(db, {
    table: "task",
    pools: { ready: "task_ready", waiting: "task_waiting" },
    group: (row) => `${row}.lane`,
  });
  const underWay = db.prepare<{ lane: string; count: number }, []>(
    `select lane, count(*) as count from task indexed by task_under_way where pool = 'under_way' group by lane`,
  );
  return () => {
    const backlogs = new Map(queued().map((backlog) => [backlog.name, backlog]));
    const running = new Map(underWay.all().map(({ lane, count }) => [lane, count]));
    const names = [...new Set([...backlogs.keys(), ...running.keys()])].sort();
    return names.map((name) => {
      const backlog = backlogs.get(name);
      return {
        // Safe: the column holds ids of lanes.
        lane: name as LaneId,
        queued: backlog?.count ?? 0,
        oldestAt: backlog && backlog.oldestSec * 1000,
        underWay: running.get(name) ?? 0,
      };
    });
  };
}

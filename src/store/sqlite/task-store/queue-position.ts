import type { Database } from "bun:sqlite";
import type { LaneId, TaskId } from "../../../domain/ids.ts";
import { MAX_QUEUE_POSITION } from "../../../domain/ports/task-store.ts";
import { setupsBefore, turnsBefore } from "../../../domain/task/queue-turns.ts";
import type { Pool } from "./task-table.ts";
import type { Turns } from "./turns.ts";

interface Place {
  readonly lane: LaneId;
  readonly setup: string;
  readonly account_number: number;
  readonly pool: Pool;
}

/**
 * The body of `TaskStore.queuePosition`: older tasks of the account, and what `setupsBefore` and `turnsBefore` say. Counting stops at the
 * highest position that is reported, so that a long queue costs no more.
 */
export function prepareQueuePosition(db: Database, turns: Turns): (id: TaskId) => number | undefined {
  const place = db.prepare<Place, [id: string]>(
    "select lane, setup, account_number, pool from task where id = ? and status = 'pending'",
  );
  const { countRows, countOwn, countOthers } = prepareCounts(db);

  /** Tasks of the setups from the lane's row to this one, in the order in which they have their turns. */
  function rowsAhead(lane: LaneId, setup: string): number {
    const parts = setupsBefore(setup, turns.rowOf(lane)?.setup);
    const counts = parts.map(([from, to]) => countRows.get(lane, from, to, MAX_QUEUE_POSITION)?.ahead ?? 0);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  return (id) => {
    const found = place.get(id);
    if (found === null) return undefined;
    const { lane, setup, account_number: account, pool } = found;
    if (pool === "under_way") return 0;
    const own = countOwn.get(lane, setup, account, id, MAX_QUEUE_POSITION)?.own ?? 0;
    let ahead = own + rowsAhead(lane, setup);
    for (const { after, before, each } of turnsBefore(account, turns.lastServed(lane, setup), own)) {
      if (ahead >= MAX_QUEUE_POSITION) break;
      ahead = countOthers.get(lane, after, before, each, ahead, MAX_QUEUE_POSITION, setup)?.ahead ?? ahead;
    }
    return Math.min(ahead, MAX_QUEUE_POSITION);
  };
}

/** Raw statements, each a seek in the index of ready tasks. */
function prepareCounts(db: Database) {
  const countRows = db.prepare<{ ahead: number }, [lane: string, from: string, to: string, limit: number]>(
    `select count(*) as ahead from (select 1 from task indexed by task_ready
       where pool = 'ready' and lane = ? and setup >= ? and setup < ? limit ?)`,
  );
  const countOwn = db.prepare<
    { own: number },
    [lane: string, setup: string, account: number, id: string, limit: number]
  >(
    `select count(*) as own from (select 1 from task indexed by task_ready
       where pool = 'ready' and lane = ? and setup = ? and account_number = ? and id < ? limit ?)`,
  );
  // Each step adds the tasks of one account and seeks the next account.
  const countOthers = db.prepare<
    { ahead: number },
    [lane: string, after: number, before: number, each: number, start: number, limit: number, setup: string]
  >(
    `with recursive step (account, ahead) as (
       select (select account_number from task indexed by task_ready
               where pool = 'ready' and lane = ?1 and setup = ?7 and account_number > ?2 and account_number < ?3
               order by account_number limit 1), ?5
       union all
       select (select account_number from task indexed by task_ready
               where pool = 'ready' and lane = ?1 and setup = ?7 and account_number > step.account and account_number < ?3
               order by account_number limit 1),
              ahead + (select count(*) from (select 1 from task indexed by task_ready
               where pool = 'ready' and lane = ?1 and setup = ?7 and account_number = step.account limit ?4))
       from step where account is not null and ahead < ?6)
     select max(ahead) as ahead from step`,
  );
  return { countRows, countOwn, countOthers };
}

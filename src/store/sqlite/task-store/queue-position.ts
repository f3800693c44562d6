import type { Database } from "bun:sqlite";
import type { AccountId, LaneId, TaskId } from "../../../domain/ids.ts";
import { MAX_QUEUE_POSITION } from "../../../domain/ports/task-store.ts";
import type { Pool } from "./task-table.ts";

/** The account whose task each lane started last. Its next turn comes after those of all others. */
export type Turns = ReadonlyMap<LaneId, AccountId>;

interface Place {
  readonly lane: LaneId;
  readonly account_id: AccountId;
  readonly pool: Pool;
}

/** Every account sorts after `FIRST`, and every id before `LAST`. */
const FIRST = "";
const LAST = "~";

/**
 * The body of `TaskStore.queuePosition`. With `own` older tasks of its account, a task starts in its account's turn number
 * `own + 1`. By then every account that comes first in a round has had that many turns, and every other account one less, as
 * far as it has tasks. Counting stops at the highest position that is reported, so that a long queue costs no more.
 */
export function prepareQueuePosition(db: Database, turns: Turns): (id: TaskId) => number | undefined {
  const place = db.prepare<Place, [id: string]>(
    "select lane, account_id, pool from task where id = ? and status = 'pending'",
  );
  const countOwn = db.prepare<{ own: number }, [lane: string, account: string, id: string, limit: number]>(
    `select count(*) as own from (select 1 from task indexed by task_ready
       where pool = 'ready' and lane = ? and account_id = ? and id < ? limit ?)`,
  );
  // Each step adds the tasks of one account and seeks the next account.
  const countOthers = db.prepare<
    { ahead: number },
    [lane: string, after: string, before: string, each: number, start: number, limit: number]
  >(
    `with recursive step (account, ahead) as (
       select (select account_id from task indexed by task_ready
               where pool = 'ready' and lane = ?1 and account_id > ?2 and account_id < ?3
               order by account_id limit 1), ?5
       union all
       select (select account_id from task indexed by task_ready
               where pool = 'ready' and lane = ?1 and account_id > step.account and account_id < ?3
               order by account_id limit 1),
              ahead + (select count(*) from (select 1 from task indexed by task_ready
               where pool = 'ready' and lane = ?1 and account_id = step.account limit ?4))
       from step where account is not null and ahead < ?6)
     select max(ahead) as ahead from step`,
  );

  return (id) => {
    const found = place.get(id);
    if (found === null) return undefined;
    const { lane, account_id: account, pool } = found;
    if (pool === "under_way") return 0;
    const own = countOwn.get(lane, account, id, MAX_QUEUE_POSITION)?.own ?? 0;
    let ahead = own;
    const add = (after: string, before: string, each: number) => {
      if (each === 0 || after >= before || ahead >= MAX_QUEUE_POSITION) return;
      ahead = countOthers.get(lane, after, before, each, ahead, MAX_QUEUE_POSITION)?.ahead ?? ahead;
    };
    const last = turns.get(lane);
    if (last === undefined) {
      add(FIRST, account, own + 1);
      add(account, LAST, own);
    } else if (last < account) {
      add(last, account, own + 1);
      add(account, LAST, own);
      // The account served last comes last in a round, so it has one turn less.
      add(FIRST, last + LAST, own);
    } else {
      add(last, LAST, own + 1);
      add(FIRST, account, own + 1);
      if (last !== account) add(account, last + LAST, own);
    }
    return Math.min(ahead, MAX_QUEUE_POSITION);
  };
}

import type { LaneId, TaskId } from "../../../domain/ids.ts";
import { MAX_QUEUE_POSITION } from "../../../domain/ports/task-store.ts";
import { setupsBefore, turnsBefore } from "../../../domain/task/queue-turns.ts";
import type { Pool } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

interface Place {
  readonly lane: LaneId;
  readonly setup: string;
  readonly account_number: number;
  readonly pool: Pool;
  /** The setup of the lane's latest row; null for none. */
  readonly row: string | null;
  /** The account that was served last; null for none. */
  readonly served: number | null;
  /** Older ready tasks of its account. */
  readonly own: number;
}

const OF_SETUP = "pool = 'ready' and lane = $1 and setup = $2";

const PLACE = statement<Place, [id: TaskId]>(
  `select lane, setup, account_number, pool,
     (select lane_row.setup from lane_row where lane_row.lane = task.lane) as row,
     (select lane_turn.account_number from lane_turn where lane_turn.lane = task.lane and lane_turn.setup = task.setup) as served,
     (select count(*)::bigint from (select 1 from task as other where other.pool = 'ready' and other.lane = task.lane
        and other.setup = task.setup and other.account_number = task.account_number and other.id < task.id
        limit ${MAX_QUEUE_POSITION}) as older) as own
   from task where id = $1 and status = 'pending'`,
);

type Ranges = [
  lane: LaneId,
  setup: string,
  fromSetup: readonly string[],
  toSetup: readonly string[],
  after: readonly number[],
  before: readonly number[],
  each: readonly number[],
];

const nextAccount = (above: string) =>
  `(select account_number from task where ${OF_SETUP} and account_number > ${above} and account_number < turns.before
    order by account_number limit 1)`;

// Each step adds the tasks of one account and seeks the next account.
const AHEAD = statement<{ ahead: number }, Ranges>(
  `select coalesce((select sum(counted.count) from unnest($3::text[], $4::text[]) as setups (first, beyond) cross join lateral
       (select count(*) from (select 1 from task where pool = 'ready' and lane = $1 and setup >= setups.first and setup < setups.beyond
          limit ${MAX_QUEUE_POSITION}) as of_setups) as counted), 0)::bigint
     + coalesce((select sum(counted.ahead) from unnest($5::bigint[], $6::bigint[], $7::bigint[]) as turns (after, before, each)
       cross join lateral (
         with recursive step (account, ahead) as (
           select ${nextAccount("turns.after")}, 0::bigint
           union all
           select ${nextAccount("step.account")}, ahead + (select count(*) from (select 1 from task
             where ${OF_SETUP} and account_number = step.account limit turns.each) as own)
           from step where account is not null and ahead < ${MAX_QUEUE_POSITION})
         select max(ahead) as ahead from step) as counted), 0)::bigint as ahead`,
);

/**
 * The body of `TaskStore.queuePosition`: older tasks of the account, and what `setupsBefore` and `turnsBefore` say. Counting stops at the
 * highest position that is reported, so that a long queue costs no more.
 */
export async function queuePosition(session: Session, id: TaskId): Promise<number | undefined> {
  const found = await PLACE.get(session, id);
  if (found === undefined) return undefined;
  const { lane, setup, account_number: account, pool, row, served, own } = found;
  if (pool === "under_way") return 0;
  if (own >= MAX_QUEUE_POSITION) return MAX_QUEUE_POSITION;
  const setups = setupsBefore(setup, row ?? undefined);
  const turns = turnsBefore(account, served ?? undefined, own);
  const counted = await AHEAD.get(
    ...([session, lane, setup] as const),
    ...([setups.map(([from]) => from), setups.map(([, before]) => before)] as const),
    ...([turns.map(({ after }) => after), turns.map(({ before }) => before)] as const),
    turns.map(({ each }) => each),
  );
  return Math.min(own + (counted?.ahead ?? 0), MAX_QUEUE_POSITION);
}

import { RESUME_DELAY_MS } from "../../../domain/task/backoff.ts";
import { DATABASE_NOW } from "../node-store.ts";
import { type Session, statement } from "../session.ts";

/** A node that was not heard of for so long works no more. */
const SILENT_MS = 10_000;
const NEVER_MS = Number.MAX_SAFE_INTEGER;

// A lease's token begins with the id of the node that has it. A task that another transaction holds is in somebody's hands.
const RESCUE = statement<never, [now: number, silentMs: number, silent: readonly string[] | null]>(
  `with gone as (
     select number from task where pool = 'under_way' and lease_token is not null and not exists (
       select 1 from node where id = split_part(lease_token, '.', 1)
         and (seen_at >= ${DATABASE_NOW} - $2::bigint or not id = any(coalesce($3::text[], array[id])))
     )
     for no key update skip locked
   )
   update task set lease_token = null,
     due_at = case when stage = 'queued' then $1::bigint else $1::bigint + ${RESUME_DELAY_MS} end,
     failures = case when stage = 'running' then greatest(failures, 1) else failures end,
     pool = case when stage = 'queued' and cancel_requested = 0 then 'ready' else 'under_way' end
   from gone where task.number = gone.number`,
);

/** Which nodes are gone. */
export interface Gone {
  /** Whether silent nodes are. After the database was away, all are silent, and still do what they hold leases for. */
  readonly isSteady: boolean;
  /** Those that this process has heard nothing of for as long: the database's clock may have been set. All unless given. */
  readonly silent: readonly string[] | undefined;
}

/** The body of `TaskStore.rescue`: gives back the leases of all nodes that are gone, and of processes that are no nodes. */
export function rescue(session: Session, now: number, { isSteady, silent }: Gone): Promise<number> {
  return RESCUE.run(session, now, isSteady ? SILENT_MS : NEVER_MS, silent ?? null);
}

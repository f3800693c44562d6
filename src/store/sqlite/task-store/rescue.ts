import type { Database } from "bun:sqlite";
import { RESUME_DELAY_MS } from "../../../domain/task/backoff.ts";

/** The body of `TaskStore.rescue`. */
export function prepareRescue(db: Database): (now: number) => number {
  const rescue = db.prepare<never, [now: number]>(
    `update task indexed by task_under_way set lease_token = null,
       due_at = case when stage = 'queued' then ?1 else ?1 + ${RESUME_DELAY_MS} end,
       failures = case when stage = 'running' then max(failures, 1) else failures end,
       pool = case when stage = 'queued' and cancel_requested = 0 then 'ready' else 'under_way' end
     where pool = 'under_way' and lease_token is not null`,
  );
  return (now) => rescue.run(now).changes;
}

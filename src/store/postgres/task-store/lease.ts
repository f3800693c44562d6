import type { LaneId, LeaseToken, TaskId } from "../../../domain/ids.ts";
import type { Lease } from "../../../domain/task/task.ts";
import { ATTEMPT_COLUMNS, type AttemptRow, toAttempt } from "../../sqlite/task-store/attempt-table.ts";
import { type Pool, TASK_COLUMNS, type TaskRow, toTask } from "../../sqlite/task-store/task-table.ts";
import { asRows, given } from "../given-rows.ts";
import { type Session, statement } from "../session.ts";

/** A task that is to be leased. */
export interface Wanted {
  readonly task_id: TaskId;
  readonly token: LeaseToken;
  /** Where it is. A task that has left it meanwhile is not leased. */
  readonly from_pool: Pool;
  /** The lane that takes it; its own unless given. */
  readonly to_lane: LaneId | null;
}

const TYPES = { task_id: "text", token: "text", from_pool: "text", to_lane: "text" } as const;
// It waits for nobody: who holds a task may wait for another one that this transaction holds.
const LEASE = statement<TaskRow, [wanted: string, until: number]>(
  `with wanted as (
     select number, token, to_lane from ${given("$1", TYPES)} join task on task.id = task_id and task.pool = from_pool
     for no key update of task skip locked
   ), leased as (
     update task set lease_token = token, due_at = $2, pool = 'under_way', lane = coalesce(to_lane, lane)
     from wanted where task.number = wanted.number returning task.*
   )
   select ${TASK_COLUMNS} from leased as task`,
);
const LATEST_ATTEMPTS = statement<AttemptRow, [ids: readonly TaskId[]]>(
  `select ${ATTEMPT_COLUMNS} from (
     select latest.* from unnest($1::text[]) as given (id) join task on task.id = given.id and attempts > 0
     cross join lateral (select * from attempt where task_number = task.number order by sequence desc limit 1) as latest
   ) as attempt`,
);

/** Gives tasks new lease tokens, and reads them and their latest attempts. @returns those that could be leased, in the order given */
export async function leaseAll(session: Session, wanted: readonly Wanted[], until: number): Promise<Lease[]> {
  if (wanted.length === 0) return [];
  const ids = wanted.map(({ task_id }) => task_id);
  const [rows, attempts] = await Promise.all([
    LEASE.all(session, asRows(wanted), until),
    LATEST_ATTEMPTS.all(session, ids),
  ]);
  const tasks = new Map(rows.map((row) => [row.id, row]));
  const latest = new Map(attempts.map((row) => [row.task_id, row]));
  return wanted.flatMap(({ task_id, token }) => {
    const [row, attempt] = [tasks.get(task_id), latest.get(task_id)];
    if (row === undefined) return [];
    return [{ token, task: toTask(row), attempt: attempt && toAttempt(attempt) }];
  });
}

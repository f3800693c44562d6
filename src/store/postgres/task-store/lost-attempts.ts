import type { AttemptId, LaneId, TaskId } from "../../../domain/ids.ts";
import type { LostAttempt, LostEnd } from "../../../domain/task/lost-attempt.ts";
import { ATTEMPT_COLUMNS, type AttemptRow, toAttempt } from "../../sqlite/task-store/attempt-table.ts";
import { MOST } from "../../sqlite/task-store/lost-attempts.ts";
import { REMOVED, TASK_COLUMNS, type TaskRow, toTask } from "../../sqlite/task-store/task-table.ts";
import { breakSeal } from "../seal-store.ts";
import { type Session, statement } from "../session.ts";

const LOST = statement<AttemptRow, [since: number, lanes: readonly LaneId[]]>(
  `select ${ATTEMPT_COLUMNS} from attempt
   where state = 'ambiguous' and ended_at >= $1 and provider = any($2::text[]) order by ended_at desc limit ${MOST}`,
);
const OWNERS = statement<TaskRow, [ids: readonly TaskId[]]>(
  `select ${TASK_COLUMNS} from task where id = any($1::text[]) and stage = 'terminal' and status <> '${REMOVED}'`,
);
const SETTLE = statement<
  { task_number: number },
  [state: string, cost: number | null, detail: string, id: string]
>(
  `update attempt set state = $1, cost_micros = coalesce($2, cost_micros), detail = $3
   where id = $4 and state = 'ambiguous' and ended_at is not null returning task_number`,
);

/** The body of `TaskStore.lostAttempts`: submissions without an answer whose tasks have ended. */
export async function lostSince(
  session: Session,
  lanes: readonly LaneId[],
  since: number,
): Promise<LostAttempt[]> {
  const lost = await LOST.all(session, since, lanes);
  const owners = await OWNERS.all(session, [...new Set(lost.map((row) => row.task_id))]);
  const tasks = new Map(owners.map((row) => [row.id, row]));
  return lost.flatMap((row) => {
    const owner = tasks.get(row.task_id);
    return owner === undefined ? [] : [{ attempt: toAttempt(row), task: toTask(owner) }];
  });
}

/** The body of `TaskStore.settleLost`. */
export async function settleLost(
  session: Session,
  id: AttemptId,
  { state, costMicros, detail }: LostEnd,
): Promise<void> {
  const settled = await SETTLE.get(session, state, costMicros ?? null, detail, id);
  // Reports of usage keep what its page came to.
  if (settled !== undefined) await breakSeal(session, "task", settled.task_number);
}

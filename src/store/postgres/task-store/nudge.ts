import type { AttemptId } from "../../../domain/ids.ts";
import type { TaskRow } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

const NUDGE = statement<never, [at: number, attempt: string]>(
  `update task set due_at = least(due_at, $1) from attempt
   where attempt.id = $2 and task.number = task_number and stage = 'running' and lease_token is null and failures = 0
     and state = 'accepted'`,
);
const LEASED = statement<Pick<TaskRow, "id">, [attempt: string]>(
  `select task.id from attempt join task on task.number = task_number
   where attempt.id = $1 and state in ('intent', 'accepted') and stage <> 'terminal' and lease_token is not null`,
);

/** The body of `TaskStore.nudge`. */
export async function nudge(
  session: Session,
  id: AttemptId,
  at: number,
): Promise<"nudged" | "leased" | "idle"> {
  if ((await NUDGE.run(session, at, id)) === 1) return "nudged";
  return (await LEASED.get(session, id)) === undefined ? "idle" : "leased";
}

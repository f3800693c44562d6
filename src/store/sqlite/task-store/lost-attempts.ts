import type { Database } from "bun:sqlite";
import type { AttemptId, LaneId } from "../../../domain/ids.ts";
import type { LostAttempt, LostEnd } from "../../../domain/task/lost-attempt.ts";
import { prepareBreakSeal } from "../seal-store.ts";
import { ATTEMPT_COLUMNS, type AttemptRow, toAttempt } from "./attempt-table.ts";
import { REMOVED, TASK_COLUMNS, type TaskRow, toTask } from "./task-table.ts";

/** Older ones are left out: each was among the newest at first. */
export const MOST = 200;

/** Submissions without an answer whose tasks have ended. Raw statements, each pinned to its index. */
export function prepareLostAttempts(db: Database) {
  const lost = db.prepare<AttemptRow, [since: number, lanes: string, limit: number]>(
    `select ${ATTEMPT_COLUMNS} from attempt indexed by attempt_lost
     where state = 'ambiguous' and ended_at >= ? and provider in (select value from json_each(?))
     order by ended_at desc limit ?`,
  );
  const task = db.prepare<TaskRow, [id: string]>(
    `select ${TASK_COLUMNS} from task where id = ? and stage = 'terminal' and status <> '${REMOVED}'`,
  );
  const settle = db.prepare<
    { task_number: number },
    [state: string, cost: number | null, detail: string, id: string]
  >(
    `update attempt set state = ?, cost_micros = coalesce(?, cost_micros), detail = ?
     where id = ? and state = 'ambiguous' and ended_at is not null returning task_number`,
  );
  const breakSeal = prepareBreakSeal(db);
  return {
    since(lanes: readonly LaneId[], since: number): LostAttempt[] {
      return lost.all(since, JSON.stringify(lanes), MOST).flatMap((row) => {
        const owner = task.get(row.task_id);
        return owner === null ? [] : [{ attempt: toAttempt(row), task: toTask(owner) }];
      });
    },
    settle(id: AttemptId, { state, costMicros, detail }: LostEnd): void {
      const settled = settle.get(state, costMicros ?? null, detail, id);
      // Reports of usage keep what its page came to.
      if (settled !== null) breakSeal("task", settled.task_number);
    },
  };
}

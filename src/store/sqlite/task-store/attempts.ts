import type { Database } from "bun:sqlite";
import type { TaskId } from "../../../domain/ids.ts";
import type { AttemptIntent } from "../../../domain/ports/claims.ts";
import type { AttemptState } from "../../../domain/task/task.ts";
import { type AttemptChange, endsAttempt, type Transition } from "../../../domain/task/transition.ts";
import type { Labels } from "../labels.ts";
import { json } from "../raw-row.ts";
import { storedWays } from "./attempt-table.ts";
import { taskNumber } from "./task-table.ts";

export type Attempts = ReturnType<typeof prepareAttempts>;

/** Whether the usage is told now, as its text or as its label. */
const HAS_USAGE = "coalesce(?6, ?13) is not null";

/** Writes attempts: their intent and their outcome. */
export function prepareAttempts(db: Database, labels: Labels) {
  const insert = db.prepare(
    `insert into attempt (id, task_number, sequence, provider, upstream_model, terms, considered, state, started_at)
     values (?, ?, ?, ?, ?, ?, ?, 'intent', ?)`,
  );
  const update = db.prepare(
    `update attempt set state = ?3, operation = coalesce(?4, operation), outputs = case when ?12 then null else coalesce(?5, outputs) end,
       usage = case when ${HAS_USAGE} then ?6 else usage end, usage_label = case when ${HAS_USAGE} then ?13 else usage_label end, detail = coalesce(?7, detail), ended_at = coalesce(?8, ended_at),
       cost_micros = coalesce(?9, cost_micros), trace = coalesce(?11, trace),
       accepted_at = coalesce(accepted_at, case when ?4 is not null then ?10 end),
       made_at = coalesce(made_at, case when ?5 is not null then ?10 end)
     where id = ?1 and task_number = ?2`,
  );
  const latest = db.prepare<{ state: AttemptState }, [id: string]>(
    `select state from attempt where task_number = ${taskNumber("?")} order by sequence desc limit 1`,
  );
  return {
    latest: (taskId: TaskId) => latest.get(taskId)?.state,
    /** @param task its number */
    insert(task: number, sequence: number, intent: AttemptIntent): void {
      const { id, lane, upstreamModel, at } = intent;
      const considered = json(storedWays(intent.considered));
      insert.run(id, task, sequence, lane, upstreamModel, json(intent.terms), considered, at);
    },
    /** @param task its number */
    update(task: number, change: AttemptChange, transition: Transition): void {
      const { at, to } = transition;
      const isTaskOver = to === "terminal";
      const { id, state, detail = null, costMicros = null } = change;
      const operation = json(change.operation);
      const outputs = json(change.outputs);
      const [usage, usageLabel] = labels.columns(json(change.usage));
      const trace = json(change.trace);
      const endedAt = endsAttempt(transition) ? at : null;
      const told = [
        operation,
        outputs,
        usage,
        detail,
        endedAt,
        costMicros,
        at,
        trace,
        isTaskOver,
        usageLabel,
      ] as const;
      const given = update.run(id, task, state, ...told);
      if (given.changes !== 1) throw new Error(`Task ${task} has no attempt ${id}.`);
    },
  };
}

import type { Database } from "bun:sqlite";
import type { TaskId } from "../../../domain/ids.ts";
import type { AttemptIntent } from "../../../domain/ports/task-store.ts";
import type { AttemptChange } from "../../../domain/task/transition.ts";
import { json } from "../raw-row.ts";

export interface Attempts {
  insert(id: TaskId, sequence: number, intent: AttemptIntent): void;
  update(id: TaskId, change: AttemptChange, at: number, isTaskOver: boolean): void;
}

/** Writes attempts: their intent and their outcome. */
export function prepareAttempts(db: Database): Attempts {
  const insert = db.prepare(
    `insert into attempt (id, task_id, sequence, provider, upstream_model, state, started_at)
     values (?, ?, ?, ?, ?, 'intent', ?)`,
  );
  const update = db.prepare(
    `update attempt set state = ?3, operation = coalesce(?4, operation), outputs = coalesce(?5, outputs),
       usage = coalesce(?6, usage), detail = coalesce(?7, detail), ended_at = coalesce(?8, ended_at),
       cost_micros = coalesce(?9, cost_micros)
     where id = ?1 and task_id = ?2`,
  );
  return {
    insert(id, sequence, intent) {
      insert.run(intent.id, id, sequence, intent.provider, intent.upstreamModel, intent.at);
    },
    update(id, change, at, isTaskOver) {
      const isOver = isTaskOver || change.state === "rejected" || change.state === "done";
      const { changes } = update.run(
        change.id,
        id,
        change.state,
        json(change.operation),
        json(change.outputs),
        json(change.usage),
        change.detail ?? null,
        isOver ? at : null,
        change.costMicros ?? null,
      );
      if (changes !== 1) throw new Error(`Task ${id} has no attempt ${change.id}.`);
    },
  };
}

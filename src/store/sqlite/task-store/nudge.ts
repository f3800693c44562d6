import type { Database } from "bun:sqlite";
import type { AttemptId } from "../../../domain/ids.ts";
import type { AttemptRow } from "./attempt-table.ts";
import type { TaskRow } from "./task-table.ts";

type Standing = Pick<TaskRow, "id" | "stage" | "lease_token" | "failures"> & Pick<AttemptRow, "state">;

/** The body of `TaskStore.nudge`. */
export function prepareNudge(db: Database) {
  const find = db.prepare<Standing, [id: string]>(
    `select task.id, stage, lease_token, failures, state from attempt join task on task.number = task_number
     where attempt.id = ? and state in ('intent', 'accepted')`,
  );
  const nudge = db.prepare<never, [at: number, id: string]>(
    "update task set due_at = ?1 where id = ?2 and due_at > ?1",
  );
  return (id: AttemptId, at: number): "nudged" | "leased" | "idle" => {
    const found = find.get(id);
    if (found === null || found.stage === "terminal") return "idle";
    if (found.lease_token !== null) return "leased";
    if (found.stage !== "running" || found.state !== "accepted" || found.failures > 0) return "idle";
    nudge.run(at, found.id);
    return "nudged";
  };
}

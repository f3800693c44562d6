import type { Database } from "bun:sqlite";
import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { Task } from "../../../domain/task/task.ts";
import { cancelled } from "../../../domain/task/transition.ts";
import type { Advance, Standing } from "./advance.ts";

/** The body of `TaskStore.requestCancel`. */
export function prepareCancel(db: Database, advance: Advance, byId: (id: TaskId) => Task | undefined) {
  const flag = db.prepare<never, [id: string]>("update task set cancel_requested = 1 where id = ?");
  const flagAndCall = db.prepare<never, [now: number, id: string]>(
    "update task set cancel_requested = 1, due_at = min(due_at, ?) where id = ?",
  );

  return (id: TaskId, owner: AccountId, now: number) => {
    const standing = advance.standing(id);
    if (standing === undefined || standing.account_id !== owner) return "not_found" as const;
    if (standing.stage === "terminal") return "already_final" as const;
    const leased = isLeased(standing, now);
    const task = byId(id);
    // A queued task has sent nothing, so no upstream needs to know.
    if (standing.stage === "queued" && !leased && task !== undefined) {
      advance.write(id, standing, cancelled(task, now));
      return "cancelled" as const;
    }
    // The end of a lease that is held must stay. The task is due once its holder gives it back.
    if (standing.lease_token !== null) flag.run(id);
    else flagAndCall.run(now, id);
    return "requested" as const;
  };
}

/** An expired lease stops nobody. Its holder's writes still fail, because the cancellation removes the token. */
function isLeased(standing: Standing, now: number): boolean {
  return standing.lease_token !== null && standing.due_at !== null && standing.due_at > now;
}

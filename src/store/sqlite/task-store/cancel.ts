import type { Database } from "bun:sqlite";
import type { Act } from "../../../domain/access/actor.ts";
import type { TrailNote } from "../../../domain/access/trail.ts";
import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Task } from "../../../domain/task/task.ts";
import { cancelled } from "../../../domain/task/transition.ts";
import { ACCOUNT_ID } from "../account-store/account-table.ts";
import type { Trail } from "../trail.ts";
import type { Advance, Standing } from "./advance.ts";
import type { Changes } from "./changes.ts";

/** The body of `TaskStore.requestCancel`. */
export function prepareCancel(
  db: Database,
  advance: Advance,
  changes: Changes,
  byId: (id: TaskId) => Task | undefined,
  trail: Trail,
) {
  const ownerOf = db.prepare<{ owner: AccountId }, [id: string]>(
    `select ${ACCOUNT_ID} as owner from task where id = ?`,
  );
  const flag = db.prepare<never, [id: string]>("update task set cancel_requested = 1 where id = ?");
  const callNow = db.prepare<never, [now: number, id: string]>(
    `update task set cancel_requested = 1, pool = 'under_way', lease_token = null, due_at = min(due_at, ?)
     where id = ?`,
  );

  function request(id: TaskId, owner: AccountId, now: number, act: Act | undefined) {
    const standing = advance.standing(id);
    if (standing === undefined || ownerOf.get(id)?.owner !== owner) return "not_found" as const;
    if (standing.stage === "terminal") return "already_final" as const;
    const leased = isLeased(standing, now);
    const isQueued = standing.stage === "queued" && !leased;
    const isOpen = isQueued && advance.latestAttempt(id) === "ambiguous";
    const task = byId(id);
    // A queued task has sent nothing, or nothing that was accepted, so no upstream needs to know.
    if (isQueued && !isOpen && task !== undefined) {
      advance.end(task, standing, cancelled(task, now));
      trail(act, noteOf(id, { status: task.status }, { status: "cancelled" }));
      return "cancelled" as const;
    }
    if (standing.cancel_requested === 0) {
      changes.mark(id);
      trail(act, noteOf(id, { cancel_requested: false }, { cancel_requested: true }));
    }
    // The end of a lease that is held must stay, and so must the delay before an upstream is asked again after a failure.
    const isToBeTold =
      standing.stage === "running" && standing.cancel_requested === 0 && standing.failures === 0;
    if (isOpen || (isToBeTold && standing.lease_token === null)) callNow.run(now, id);
    else flag.run(id);
    return "requested" as const;
  }
  return request;
}

export function noteOf(id: TaskId, before: JsonObject, after: JsonObject): TrailNote {
  return { action: "task.cancel", object: { kind: "task", id }, before, after };
}

/** An expired lease stops nobody. Its holder's writes still fail, because the cancellation removes the token. */
export function isLeased(standing: Standing, now: number): boolean {
  return standing.lease_token !== null && standing.due_at !== null && standing.due_at > now;
}

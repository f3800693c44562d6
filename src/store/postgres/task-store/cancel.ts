import type { Act } from "../../../domain/access/actor.ts";
import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import { cancelled } from "../../../domain/task/transition.ts";
import { isLeased, noteOf } from "../../sqlite/task-store/cancel.ts";
import type { Connection } from "../connection.ts";
import type { Labels } from "../labels.ts";
import type { Ledger } from "../ledger.ts";
import { type Session, statement } from "../session.ts";
import { writeTrail } from "../trail.ts";
import { standingsOf } from "./advance.ts";
import { latestAttempt } from "./attempts.ts";
import { byId } from "./reads.ts";
import { prepareTransition, writeChanges } from "./transition-rows.ts";

const MARK = statement<never, [id: string]>(
  "update task set change = nextval('task_change_number') where id = $1",
);
const FLAG = statement<never, [id: string]>("update task set cancel_requested = 1 where id = $1");
const CALL_NOW = statement<never, [now: number, id: string]>(
  `update task set cancel_requested = 1, pool = 'under_way', lease_token = null, due_at = least(due_at, $1)
   where id = $2`,
);

interface Parts {
  readonly labels: Labels;
  readonly ledger: Ledger;
}

interface Request {
  readonly id: TaskId;
  readonly owner: AccountId;
  readonly now: number;
  readonly act: Act | undefined;
}

/** The body of `TaskStore.requestCancel`. */
export function prepareCancel({ writeFor }: Connection, parts: Parts): TaskStore["requestCancel"] {
  return (id, owner, now, act) =>
    writeFor(owner, (session) => requestCancel(session, parts, { id, owner, now, act }));
}

async function requestCancel(session: Session, parts: Parts, { id, owner, now, act }: Request) {
  const standing = (await standingsOf(session, [id])).get(id);
  if (standing === undefined || standing.account_id !== owner) return "not_found" as const;
  if (standing.stage === "terminal") return "already_final" as const;
  const isQueued = standing.stage === "queued" && !isLeased(standing, now);
  const [latest, task] = isQueued
    ? await Promise.all([latestAttempt(session, id), byId(session, id)])
    : [undefined, undefined];
  const isOpen = isQueued && latest === "ambiguous";
  // A queued task has sent nothing, or nothing that was taken, so no upstream needs to know.
  if (isQueued && !isOpen && task !== undefined) {
    const prepared = await prepareTransition(parts, id, cancelled(task, now));
    const changes = [{ standing, prepared, isCancelKnown: true }];
    await writeChanges(session, parts.ledger, { of: owner, changes });
    await writeTrail(session, act, noteOf(id, { status: task.status }, { status: "cancelled" }));
    return "cancelled" as const;
  }
  if (standing.cancel_requested === 0) {
    await MARK.run(session, id);
    await writeTrail(session, act, noteOf(id, { cancel_requested: false }, { cancel_requested: true }));
  }
  // The end of a lease that is held must stay, and so must the delay before an upstream is asked again after a failure.
  const isToBeTold =
    standing.stage === "running" && standing.cancel_requested === 0 && standing.failures === 0;
  if (isOpen || (isToBeTold && standing.lease_token === null)) await CALL_NOW.run(session, now, id);
  else await FLAG.run(session, id);
  return "requested" as const;
}

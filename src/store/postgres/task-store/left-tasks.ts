import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { OrphanedTask, TimedCancel } from "../../../domain/ports/left-tasks.ts";
import type { Race } from "../../../domain/task/group-terms.ts";
import { ACCOUNT_ID } from "../../sqlite/account-store/account-table.ts";
import { textOf } from "../../sqlite/label-table.ts";
import { parse } from "../../sqlite/raw-row.ts";
import type { StoredRequest } from "../../sqlite/task-store/stored-request.ts";
import { CANCELS_LATER } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

interface Asked {
  readonly id: TaskId;
  readonly accountId: AccountId;
  readonly request: string;
  readonly started_at: number | null;
  readonly cancel_requested: 0 | 1;
}

// Each reads what is live, at a start or now and then, and the requests of those alone that seem to have the field: JSON functions of the
// database fail for texts that are JSON elsewhere.
const ORPHANS = statement<OrphanedTask>(
  `select id, sync_scope as "syncScope", ${ACCOUNT_ID} as "accountId", ${textOf("key_label")} as "keyId", created_at as "createdAt"
   from task where pool is not null and sync_scope is not null order by id`,
);
const HAVING = statement<Asked, [field: string]>(
  `select id, ${ACCOUNT_ID} as "accountId", request, started_at, cancel_requested from task
   where ${CANCELS_LATER} and strpos(request, $1) > 0 order by id`,
);

/** The body of `TaskStore.orphans`. */
export function orphans(session: Session): Promise<OrphanedTask[]> {
  return ORPHANS.all(session);
}

/** The body of `TaskStore.timed`. */
export async function timed(session: Session): Promise<TimedCancel[]> {
  const found = await HAVING.all(session, '"cancelAt":');
  return found.flatMap(({ id, accountId, request, started_at, cancel_requested }) => {
    const { cancelAt, cancelsUnstarted } = parse<StoredRequest>(request);
    if (cancelAt === undefined || cancel_requested === 1) return [];
    if (cancelsUnstarted === true && started_at !== null) return [];
    return [{ id, accountId, cancelAt, ...(cancelsUnstarted && { cancelsUnstarted }) }];
  });
}

/** The body of `TaskStore.races`. */
export async function races(session: Session): Promise<Race[]> {
  const found = await HAVING.all(session, '"policy":');
  return found.flatMap(({ accountId, request }) => {
    const { group } = parse<StoredRequest>(request);
    return group?.policy === "first" ? [{ accountId, tasks: group.tasks }] : [];
  });
}

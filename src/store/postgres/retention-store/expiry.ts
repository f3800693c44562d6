import type { TaskId } from "../../../domain/ids.ts";
import type { Expiry, ExpiryQuery, KeptKind } from "../../../domain/ports/retention-store.ts";
import { RETAINS } from "../../sqlite/account-store/key-table.ts";
import {
  type ExpiryRow,
  expiryOf,
  holdsCallbacks,
  OF_ACCOUNT,
  ofKeys,
} from "../../sqlite/retention-store/expiry.ts";
import { named, REMOVED } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

/**
 * Whether a task that is not removed has data of a kind, as SQL. With `exists`, the server would expect all tasks after the
 * first one, and would read all files or callbacks for a few of them.
 */
const HAS: Readonly<Record<KeptKind, string>> = {
  outputs: hasFile("output"),
  inputs: hasFile("input"),
  callbacks: "(select 1 from callback where callback.task_id = task.id limit 1) is not null",
  tasks: "true",
};

const OWES =
  "((select 1 from callback where callback.task_id = task.id and callback.pool is not null limit 1) is not null)::int";

/** How long the key of a policy keeps files, as SQL. */
const OF_KEY = "(policy::json ->> 'retainSec')::bigint";

/** A task, and how long its data is kept if not as the server's setting says. A key's setting overrides its account's. */
type Row = ExpiryRow & { readonly retain: number | null };

function stated(kind: KeptKind) {
  const column = OF_ACCOUNT[kind];
  const [term, shortestOfKey] = ofKeys(kind)
    ? [`coalesce(${OF_KEY}, ${column})`, `(select min(${OF_KEY}) from api_key where ${RETAINS})`]
    : [column, "null::bigint"];
  return {
    rows: statement<Row, [after: number, limit: number]>(
      `select looked.*, (select ${term} from api_key join account on account.id = account_id where api_key.id = key_id) as retain
       from (
         select number, id, ${named("key_id")}, created_at, completed_at,
           (status <> '${REMOVED}' and (${HAS[kind]}))::int as has, ${holdsCallbacks(kind) ? OWES : "0"} as owes
         from task where number > $1 order by number limit $2
       ) as looked order by number`,
    ),
    shortest: statement<{ sec: number | null }>(
      `select least((select min(${column}) from account where ${column} is not null), ${shortestOfKey}) as sec`,
    ),
  };
}

function hasFile(role: "input" | "output"): string {
  return `retain_sec is null
    and (select 1 from asset where asset.task_number = task.number and role = '${role}' limit 1) is not null`;
}

const STATED: Readonly<Record<KeptKind, ReturnType<typeof stated>>> = {
  outputs: stated("outputs"),
  inputs: stated("inputs"),
  callbacks: stated("callbacks"),
  tasks: stated("tasks"),
};

const FILES_DUE = statement<{ id: TaskId }, [now: number, limit: number]>(
  `select id from task
   where retain_sec is not null and files_removed_at is null and completed_at + retain_sec * 1000 <= $1
   order by completed_at + retain_sec * 1000 limit $2`,
);

/** The body of `RetentionStore.expired`. */
export async function expired(session: Session, query: ExpiryQuery): Promise<Expiry> {
  const { kind, after, limit, endedBefore, now } = query;
  const { rows, shortest } = STATED[kind];
  const shortestSec = (await shortest.get(session))?.sec ?? Number.POSITIVE_INFINITY;
  return expiryOf(await rows.all(session, after, limit), {
    ...{ after, now },
    latest: Math.max(endedBefore, now - shortestSec * 1000),
    dueBefore: ({ retain }) => (retain === null ? endedBefore : now - retain * 1000),
  });
}

/** The body of `RetentionStore.filesDue`. */
export async function filesDue(session: Session, now: number, limit: number): Promise<TaskId[]> {
  return (await FILES_DUE.all(session, now, limit)).map(({ id }) => id);
}

import type { Database } from "bun:sqlite";
import type { KeyId, TaskId } from "../../../domain/ids.ts";
import type { Expiry, ExpiryQuery, KeptKind } from "../../../domain/ports/retention-store.ts";
import { RETAINS } from "../account-store/key-table.ts";
import { named, REMOVED } from "../task-store/task-table.ts";

/** A task as the walk over all tasks looks at it. */
export interface ExpiryRow {
  readonly number: number;
  readonly id: TaskId;
  readonly key_id: KeyId;
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly has: 0 | 1;
  /** Whether it must not go yet, because one of its callbacks must still be sent. */
  readonly owes: 0 | 1;
}

/** Whether a task that is not removed has something of a kind, as SQL. */
const HAS: Readonly<Record<KeptKind, string>> = {
  outputs: hasFile("output"),
  inputs: hasFile("input"),
  callbacks: "exists (select 1 from callback where callback.task_id = task.id)",
  tasks: "1",
};

/** Kinds that hold callbacks. */
export const holdsCallbacks = (kind: KeptKind) => kind === "callbacks" || kind === "tasks";
const OWES = "exists (select 1 from callback where callback.task_id = task.id and callback.pool is not null)";
/** How long an account keeps what of its tasks, in seconds, as a column. */
export const OF_ACCOUNT = {
  outputs: "retain_outputs_sec",
  inputs: "retain_inputs_sec",
  callbacks: "retain_callbacks_sec",
  tasks: "retain_tasks_sec",
} as const satisfies Readonly<Record<KeptKind, string>>;

/** A key says it of files alone. */
export const ofKeys = (kind: KeptKind) => kind === "outputs" || kind === "inputs";

interface Retain {
  readonly retain: number | null;
}

/**
 * Tells how long data of ended tasks is kept, in seconds; null: as the server's setting says. A key's setting overrides its
 * account's.
 */
function prepareTerms(db: Database, kind: KeptKind) {
  const column = OF_ACCOUNT[kind];
  const term = ofKeys(kind) ? `coalesce(policy ->> '$.retainSec', ${column})` : column;
  const own = db.prepare<Retain, [key: string]>(
    `select ${term} as retain from api_key join account on account.id = account_id where api_key.id = ?`,
  );
  const shortestOfKey = db.prepare<Retain, []>(
    `select min(policy ->> '$.retainSec') as retain from api_key indexed by api_key_retains where ${RETAINS}`,
  );
  const shortestOfAccount = db.prepare<Retain, []>(
    `select min(${column}) as retain from account where ${column} is not null`,
  );
  return {
    of: (key: KeyId) => own.get(key)?.retain ?? undefined,
    shortest(): number {
      const all = [shortestOfAccount, ...(ofKeys(kind) ? [shortestOfKey] : [])];
      return Math.min(...all.map((statement) => statement.get()?.retain ?? Number.POSITIVE_INFINITY));
    },
  };
}

function hasFile(role: "input" | "output"): string {
  return `retain_sec is null and exists (select 1 from asset indexed by asset_of_task where asset.task_number = task.number and role = '${role}')`;
}

/** Returns the body of `RetentionStore.expired`. */
export function prepareExpired(db: Database): (query: ExpiryQuery) => Expiry {
  const prepare = (kind: KeptKind) => ({
    rows: db.prepare<ExpiryRow, [after: number, limit: number]>(
      `select number, id, ${named("key_id")}, created_at, completed_at,
         (status <> '${REMOVED}' and (${HAS[kind]})) as has, ${holdsCallbacks(kind) ? OWES : "0"} as owes
       from task where number > ? order by number limit ?`,
    ),
    terms: prepareTerms(db, kind),
  });
  const prepared = {
    outputs: prepare("outputs"),
    inputs: prepare("inputs"),
    callbacks: prepare("callbacks"),
    tasks: prepare("tasks"),
  };

  return (query) => {
    const { kind, after, limit, endedBefore, now } = query;
    const { rows, terms } = prepared[kind];
    // Tasks that were accepted later cannot be due yet.
    const latest = Math.max(endedBefore, now - terms.shortest() * 1000);
    const dueBefore = ({ key_id }: ExpiryRow): number => {
      const retain = terms.of(key_id);
      return retain === undefined ? endedBefore : now - retain * 1000;
    };
    return expiryOf(rows.all(after, limit), { after, now, latest, dueBefore });
  };
}

/**
 * What a walk finds in some tasks. Those that were accepted at `latest` or later cannot be due yet. One that was accepted later than now
 * says nothing of those after it: the clock was ahead.
 */
export function expiryOf<Row extends ExpiryRow>(
  rows: readonly Row[],
  given: {
    readonly after: number;
    readonly now: number;
    readonly latest: number;
    readonly dueBefore: (row: Row) => number;
  },
): Expiry {
  const due: TaskId[] = [];
  let [place, finished, isGapless] = [given.after, given.after, true];
  for (const row of rows) {
    if (row.created_at >= given.latest && row.created_at <= given.now) return { due, finished };
    place = row.number;
    // A task has nothing before it ends, and may get it then.
    const isOver = row.completed_at !== null && row.has === 0;
    if (!isOver) {
      isGapless = false;
      const isDue = row.completed_at !== null && row.completed_at < given.dueBefore(row);
      if (isDue && row.owes === 0) due.push(row.id);
    } else if (isGapless) finished = row.number;
  }
  return { due, finished, place: place === given.after ? undefined : place };
}

/** Returns the body of `RetentionStore.filesDue`. */
export function prepareFilesDue(db: Database): (now: number, limit: number) => TaskId[] {
  const due = db.prepare<{ id: TaskId }, [now: number, limit: number]>(
    `select id from task indexed by task_files_due
     where retain_sec is not null and files_removed_at is null and completed_at + retain_sec * 1000 <= ?
     order by completed_at + retain_sec * 1000 limit ?`,
  );
  return (now, limit) => due.all(now, limit).map(({ id }) => id);
}

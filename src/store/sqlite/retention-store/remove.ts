import type { Database } from "bun:sqlite";
import { GROUP_ENDED } from "../../../domain/callback/callback.ts";
import type { AccountId, AssetId, TaskId } from "../../../domain/ids.ts";
import type { Removal } from "../../../domain/ports/retention-store.ts";
import type { TaskStatus } from "../../../domain/task/task.ts";
import { prepareIsNamed } from "../named-contents.ts";
import { parse } from "../raw-row.ts";
import { prepareBreakSeal } from "../seal-store.ts";
import { prepareForget } from "../search-store.ts";
import { SHA256 } from "../task-store/asset-table.ts";
import type { StoredRequest } from "../task-store/stored-request.ts";
import { named, REMOVED, taskNumber } from "../task-store/task-table.ts";

/** The facts that decide whether a task can be removed. */
export interface Standing {
  readonly number: number;
  readonly account_id: AccountId;
  readonly status: TaskStatus | typeof REMOVED;
  readonly stage: string;
  /** The request, if it is this task whose callback must still tell that its group has ended. */
  readonly group_request: string | null;
}

/** Whether a callback must still tell of a group's end, as SQL. */
export const IS_GROUP_END = `event = '${GROUP_ENDED}' and pool is not null`;
/** The column of `Standing`, as SQL. */
export const GROUP_REQUEST = `case when exists (select 1 from callback where task_id = task.id and ${IS_GROUP_END})
  then request end as group_request`;

/** The tasks of the group that a request belongs to. */
export const membersIn = (request: string): readonly TaskId[] =>
  parse<StoredRequest>(request).group?.tasks ?? [];

/** A file of a task. */
export interface File {
  readonly id: AssetId;
  readonly sha256: string;
}

/**
 * Returns the body of `RetentionStore.remove`. The data that the books sum up stays: the task's owner, its times, its amounts, how
 * many outputs it had, and what its attempts cost. Its number among the changes is negated, so that no reader of changes finds it,
 * and the latest number stays known. When it was removed is where the removal of its files would be.
 */
export function prepareRemove(
  db: Database,
  tell: (id: TaskId, ofAssets: readonly AssetId[]) => void,
): (id: TaskId, at: number, owner?: AccountId | undefined) => Removal {
  const select = db.prepare<Standing, [id: string]>(
    `select number, ${named("account_id")}, status, stage, ${GROUP_REQUEST} from task where id = ?`,
  );
  const strip = db.prepare<never, [at: number, id: string]>(
    `update task set status = '${REMOVED}', change = -abs(change), setup = '', begins_group = null, request_id = '', origin = null, origin_label = null, quote = null,
       quote_label = null, request = '{}', results = (select json_group_array(0) from json_each(results)), result_issues = null,
       error = null, usage = null, usage_label = null, callback_url = null, callback_terms = null, sync_scope = null, retain_sec = null,
       files_removed_at = ?
     where id = ?`,
  );
  const stripAttempts = db.prepare<never, [id: string]>(
    `update attempt set operation = null, outputs = null, usage = null, usage_label = null, detail = null, considered = null, trace = null
     where task_number = ${taskNumber("?")}`,
  );
  const handOnGroupEnd = prepareHandOnGroupEnd(db);
  const removeCallback = prepareRemoveCallback(db);
  const removeFiles = prepareRemoveFiles(db);
  const forget = prepareForget(db);
  const breakSeal = prepareBreakSeal(db);

  return (id, at, owner) => {
    const standing = select.get(id);
    if (standing === null || (owner !== undefined && standing.account_id !== owner))
      return { kind: "not_found" };
    const { status, stage } = standing;
    if (status === REMOVED) return { kind: "removed", contents: [] };
    if (stage !== "terminal") return { kind: "live", status };
    if (standing.group_request !== null) handOnGroupEnd(id, membersIn(standing.group_request));
    removeCallback(id);
    const { assets, contents } = removeFiles(id);
    stripAttempts.run(id);
    strip.run(at, id);
    breakSeal("task", standing.number);
    forget(id);
    tell(id, assets);
    return { kind: "removed", contents };
  };
}

/** Returns a function that gives the callback of a group's end to another of its tasks, if one is left. */
function prepareHandOnGroupEnd(db: Database): (id: TaskId, members: readonly TaskId[]) => void {
  const left = db.prepare<{ id: TaskId }, [members: string, id: string]>(
    `select id from task where id in (select value from json_each(?)) and id <> ? and status <> '${REMOVED}' limit 1`,
  );
  const handOn = db.prepare<never, [to: string, id: string]>(
    `update callback set task_id = ? where task_id = ? and ${IS_GROUP_END}`,
  );
  return (id, members) => {
    const other = left.get(JSON.stringify(members), id);
    if (other !== null) handOn.run(other.id, id);
  };
}

/** Returns a function that removes a task's callbacks with their sends. */
function prepareRemoveCallback(db: Database): (id: TaskId) => void {
  // Out of its pool first: the counts of what waits follow changes of pools.
  const end = db.prepare<never, [id: string]>(
    "update callback set state = 'failed', pool = null, redeliver = 0 where task_id = ? and pool is not null",
  );
  const removeSends = db.prepare<never, [id: string]>(
    "delete from callback_attempt where callback_id in (select id from callback where task_id = ?)",
  );
  const remove = db.prepare<never, [id: string]>("delete from callback where task_id = ?");
  return (id) => {
    end.run(id);
    removeSends.run(id);
    remove.run(id);
  };
}

/** Returns a function that removes a task's assets. It returns them, and the contents that no other asset and no uploaded file has. */
function prepareRemoveFiles(db: Database) {
  const filesOf = db.prepare<File, [id: string]>(
    `select id, ${SHA256} from asset where task_number = ${taskNumber("?")}`,
  );
  const remove = db.prepare<never, [id: string]>(`delete from asset where task_number = ${taskNumber("?")}`);
  const isNamed = prepareIsNamed(db);
  return (id: TaskId): { assets: readonly AssetId[]; contents: readonly string[] } => {
    const files = filesOf.all(id);
    remove.run(id);
    const contents = new Set(files.map(({ sha256 }) => sha256));
    return {
      assets: files.map((file) => file.id),
      contents: [...contents].filter((sha256) => !isNamed(sha256)),
    };
  };
}

/** Returns the body of `RetentionStore.neededContents`. */
export function prepareNeededContents(db: Database): (contents: readonly string[]) => string[] {
  const isNamed = prepareIsNamed(db);
  // Outputs that are stored while others of their task are still fetched have no asset yet.
  const underWay = db.prepare<{ outputs: string }, []>(
    `select outputs from task indexed by task_under_way cross join attempt on attempt.task_number = task.number
     where pool = 'under_way' and outputs is not null`,
  );
  return (contents) => {
    if (contents.length === 0) return [];
    const outputs = underWay.all().map((row) => row.outputs);
    return contents.filter((sha256) => isNamed(sha256) || outputs.some((text) => text.includes(sha256)));
  };
}

import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { Removal } from "../../../domain/ports/retention-store.ts";
import {
  type File,
  GROUP_REQUEST,
  IS_GROUP_END,
  membersIn,
  type Standing,
} from "../../sqlite/retention-store/remove.ts";
import { SHA256 } from "../../sqlite/task-store/asset-table.ts";
import { named, REMOVED, taskNumber } from "../../sqlite/task-store/task-table.ts";
import { unneededContents } from "../named-contents.ts";
import { breakSeal } from "../seal-store.ts";
import { forgetPrompt } from "../search-store.ts";
import { type Session, statement } from "../session.ts";

const SELECT = statement<Standing, [id: string]>(
  `select number, ${named("account_id")}, status, stage, ${GROUP_REQUEST} from task where id = $1`,
);
// The stored list keeps its number of results.
const STRIP = statement<never, [at: number, id: string]>(
  `update task set status = '${REMOVED}', change = -abs(change), setup = '', begins_group = null, request_id = '', origin = null, origin_label = null, quote = null,
     quote_label = null, request = '{}', results = '[' || array_to_string(array_fill(0, array[count_results(results)]), ',') || ']',
     result_issues = null, error = null, usage = null, usage_label = null, callback_url = null, callback_terms = null,
     sync_scope = null, retain_sec = null, files_removed_at = $1
   where id = $2`,
);
const STRIP_ATTEMPTS = statement<never, [id: string]>(
  `update attempt set operation = null, outputs = null, usage = null, usage_label = null, detail = null, considered = null, trace = null
   where task_number = ${taskNumber("$1")}`,
);
const LEFT_OF_GROUP = statement<{ id: TaskId }, [members: readonly TaskId[], id: string]>(
  `select id from task where id = any($1::text[]) and id <> $2 and status <> '${REMOVED}' limit 1`,
);
const HAND_ON = statement<never, [to: string, id: string]>(
  `update callback set task_id = $1 where task_id = $2 and ${IS_GROUP_END}`,
);
// Read while the row is locked, so that a send that is being claimed exists when sends are removed.
const END_CALLBACKS = statement<never, [id: string]>(
  "update callback set state = 'failed', pool = null, redeliver = 0 where task_id = $1 and pool is not null",
);
const REMOVE_SENDS = statement<never, [id: string]>(
  "delete from callback_attempt where callback_id in (select id from callback where task_id = $1)",
);
const REMOVE_CALLBACKS = statement<never, [id: string]>("delete from callback where task_id = $1");
const REMOVE_FILES = statement<File, [id: string]>(
  `delete from asset where task_number = ${taskNumber("$1")} returning id, ${SHA256}`,
);
const OUTPUTS_UNDER_WAY = statement<{ content: string }, [contents: readonly string[]]>(
  `with kept as materialized (
     select outputs from task join attempt on attempt.task_number = task.number where pool = 'under_way' and outputs is not null)
   select content from unnest($1::text[]) as content where exists (select 1 from kept where strpos(outputs, content) > 0)`,
);

/** The body of `RetentionStore.remove`, as SQLite has it. It holds the row of the task's account. */
export async function removeTask(
  session: Session,
  id: TaskId,
  at: number,
  owner?: AccountId | undefined,
): Promise<Removal> {
  const standing = await SELECT.get(session, id);
  if (standing === undefined || (owner !== undefined && standing.account_id !== owner))
    return { kind: "not_found" };
  const { status, stage } = standing;
  if (status === REMOVED) return { kind: "removed", contents: [] };
  if (stage !== "terminal") return { kind: "live", status };
  if (standing.group_request !== null) await handOnGroupEnd(session, id, membersIn(standing.group_request));
  await END_CALLBACKS.run(session, id);
  await REMOVE_SENDS.run(session, id);
  await REMOVE_CALLBACKS.run(session, id);
  const files = await REMOVE_FILES.all(session, id);
  await STRIP_ATTEMPTS.run(session, id);
  await STRIP.run(session, at, id);
  await breakSeal(session, "task", standing.number);
  await forgetPrompt(session, id);
  const contents = await unneededContents(
    session,
    files.map(({ sha256 }) => sha256),
  );
  return { kind: "removed", contents };
}

/** Gives the callback of a group's end to another of its tasks, if one is left. */
async function handOnGroupEnd(session: Session, id: TaskId, members: readonly TaskId[]): Promise<void> {
  const other = await LEFT_OF_GROUP.get(session, members, id);
  if (other !== undefined) await HAND_ON.run(session, other.id, id);
}

/** The body of `RetentionStore.neededContents`. Outputs that are stored while others of their task are still fetched have no asset yet. */
export async function neededContents(session: Session, contents: readonly string[]): Promise<string[]> {
  if (contents.length === 0) return [];
  const unneeded = new Set(await unneededContents(session, contents));
  const kept = unneeded.size === 0 ? [] : await OUTPUTS_UNDER_WAY.all(session, [...unneeded]);
  const underWay = new Set(kept.map(({ content }) => content));
  return contents.filter((sha256) => !unneeded.has(sha256) || underWay.has(sha256));
}

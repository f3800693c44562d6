import type { TaskId } from "../../../domain/ids.ts";
import type { KeptKind } from "../../../domain/ports/retention-store.ts";
import { MOST_OF_TASK } from "../../sqlite/callback-store/callback-table.ts";
import type { File } from "../../sqlite/retention-store/remove.ts";
import { SHA256 } from "../../sqlite/task-store/asset-table.ts";
import { REMOVED, taskNumber } from "../../sqlite/task-store/task-table.ts";
import { unneededContents } from "../named-contents.ts";
import { breakSeal } from "../seal-store.ts";
import { type Session, statement } from "../session.ts";
import { removeTask } from "./remove.ts";

/** Removes one kind of data of an ended task. @returns the contents that no task has any more */
type Expire = (session: Session, id: TaskId, now: number) => Promise<readonly string[]>;

const REMOVE_FILES = statement<File, [task: string, role: string]>(
  `delete from asset where task_number = ${taskNumber("$1")} and role = $2 returning id, ${SHA256}`,
);
const NOTE_FILES = statement<never, [at: number, id: string]>(
  `update task set files_removed_at = $1
   where id = $2 and stage = 'terminal' and status <> '${REMOVED}' and files_removed_at is null`,
);
const CALLBACKS = statement<{ id: string; pool: string | null }, [task: string]>(
  `select id, pool from callback where task_id = $1 limit ${MOST_OF_TASK}`,
);
const REMOVE_SENDS = statement<never, [ids: readonly string[]]>(
  "delete from callback_attempt where callback_id = any($1)",
);
const REMOVE_CALLBACKS = statement<never, [ids: readonly string[]]>(
  "delete from callback where id = any($1)",
);
const FORGET_ADDRESS = statement<{ number: number }, [id: string]>(
  "update task set callback_url = null, callback_terms = null where id = $1 and stage = 'terminal' returning number",
);

const EXPIRE: Readonly<Record<KeptKind, Expire>> = {
  outputs: (session, id, now) => expireFiles(session, id, "output", now),
  inputs: (session, id, now) => expireFiles(session, id, "input", now),
  callbacks: expireCallbacks,
  async tasks(session, id, now) {
    const removal = await removeTask(session, id, now);
    return removal.kind === "removed" ? removal.contents : [];
  },
};

/** The body of `RetentionStore.expire`, for tasks of one account. It holds the account's row. */
export async function expireOf(
  session: Session,
  kinds: readonly KeptKind[],
  ids: readonly TaskId[],
  now: number,
): Promise<string[]> {
  const contents: string[] = [];
  for (const id of ids) for (const kind of kinds) contents.push(...(await EXPIRE[kind](session, id, now)));
  return contents;
}

async function expireFiles(session: Session, id: TaskId, role: "input" | "output", now: number) {
  const files = await REMOVE_FILES.all(session, id, role);
  if (role === "output") await NOTE_FILES.run(session, now, id);
  return unneededContents(
    session,
    files.map(({ sha256 }) => sha256),
  );
}

/** While one of a task's callbacks must still be sent, all of them stay. */
async function expireCallbacks(session: Session, id: TaskId): Promise<readonly string[]> {
  const callbacks = await CALLBACKS.all(session, id);
  if (callbacks.length === 0 || callbacks.some(({ pool }) => pool !== null)) return [];
  const ids = callbacks.map((callback) => callback.id);
  await REMOVE_SENDS.run(session, ids);
  await REMOVE_CALLBACKS.run(session, ids);
  const forgotten = await FORGET_ADDRESS.get(session, id);
  if (forgotten !== undefined) await breakSeal(session, "task", forgotten.number);
  return [];
}

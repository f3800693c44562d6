import type { Database } from "bun:sqlite";
import type { AssetId, TaskId } from "../../../domain/ids.ts";
import type { KeptKind, Removal } from "../../../domain/ports/retention-store.ts";
import { MOST_OF_TASK } from "../callback-store/callback-table.ts";
import { prepareIsNamed } from "../named-contents.ts";
import type { Told } from "../removals.ts";
import { prepareBreakSeal } from "../seal-store.ts";
import { SHA256 } from "../task-store/asset-table.ts";
import { REMOVED, taskNumber } from "../task-store/task-table.ts";

/** Removes one kind of data of an ended task. @returns the contents that no task has any more */
type Expire = (id: TaskId, now: number) => readonly string[];

export interface ExpireDeps {
  readonly remove: (id: TaskId, at: number) => Removal;
  readonly tell: Told;
}

/** Returns the body of `RetentionStore.expire`. */
export function prepareExpire(db: Database, { remove, tell }: ExpireDeps) {
  const expire: Readonly<Record<KeptKind, Expire>> = {
    outputs: prepareExpireFiles(db, "output", tell),
    inputs: prepareExpireFiles(db, "input", tell),
    callbacks: prepareExpireCallback(db),
    tasks(id, now) {
      const removal = remove(id, now);
      return removal.kind === "removed" ? removal.contents : [];
    },
  };
  return (kinds: readonly KeptKind[], ids: readonly TaskId[], now: number): string[] =>
    ids.flatMap((id) => kinds.flatMap((kind) => expire[kind](id, now)));
}

function prepareExpireFiles(db: Database, role: "input" | "output", tell: Told): Expire {
  const filesOf = db.prepare<{ id: AssetId; sha256: string }, [task: string, role: string]>(
    `select id, ${SHA256} from asset where task_number = ${taskNumber("?")} and role = ?`,
  );
  const remove = db.prepare<never, [task: string, role: string]>(
    `delete from asset where task_number = ${taskNumber("?")} and role = ?`,
  );
  const isNamed = prepareIsNamed(db);
  const note = db.prepare<never, [at: number, id: string]>(
    `update task set files_removed_at = ?
     where id = ? and stage = 'terminal' and status <> '${REMOVED}' and files_removed_at is null`,
  );
  return (id, now) => {
    const files = filesOf.all(id, role);
    remove.run(id, role);
    if (role === "output") note.run(now, id);
    tell(
      id,
      files.map((file) => file.id),
    );
    const contents = new Set(files.map(({ sha256 }) => sha256));
    return [...contents].filter((sha256) => !isNamed(sha256));
  };
}

/** While one of a task's callbacks must still be sent, all of them stay. */
function prepareExpireCallback(db: Database): Expire {
  const ofTask = db.prepare<{ id: string; pool: string | null }, [task: string]>(
    `select id, pool from callback where task_id = ? limit ${MOST_OF_TASK}`,
  );
  const removeSends = db.prepare<never, [id: string]>("delete from callback_attempt where callback_id = ?");
  const remove = db.prepare<never, [id: string]>("delete from callback where id = ?");
  const forgetAddress = db.prepare<{ number: number }, [id: string]>(
    "update task set callback_url = null, callback_terms = null where id = ? and stage = 'terminal' returning number",
  );
  const breakSeal = prepareBreakSeal(db);
  return (id) => {
    const callbacks = ofTask.all(id);
    if (callbacks.length === 0 || callbacks.some(({ pool }) => pool !== null)) return [];
    for (const callback of callbacks) {
      removeSends.run(callback.id);
      remove.run(callback.id);
    }
    const number = forgetAddress.get(id)?.number;
    if (number !== undefined) breakSeal("task", number);
    return [];
  };
}

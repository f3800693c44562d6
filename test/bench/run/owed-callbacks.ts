import { Database } from "bun:sqlite";
import { inWords } from "../../helpers/in-words.ts";

/**
 * Gives finished tasks in the database of a stopped service a callback each, due now, to the ports in turn.
 *
 * @param tasks that have none
 */
export function oweCallbacks(path: string, tasks: readonly string[], ports: readonly number[]): void {
  using db = inWords(new Database(path, { readwrite: true, strict: true }));
  const insert = db.prepare(
    `insert into callback (id, task_id, account_id, key_id, request_id, url, host, state, pool, due_at,
       attempts, sends, redeliver, created_at, event)
     select replace(id, 'task_', 'cb_'), id, account_id, key_id, request_id, 'http://' || ?2 || '/hook', ?2, 'pending', 'waiting',
       ?3, 0, 0, 0, ?3, status from task where id = ?1`,
  );
  const now = Date.now();
  db.transaction(() => {
    for (const [index, task] of tasks.entries())
      insert.run(task, `127.0.0.1:${ports[index % ports.length]}`, now);
  }).immediate();
  db.query("pragma wal_checkpoint(truncate)").get();
}

/** Callbacks that are not over, and sends that are under way, in the database of a running service. */
export function owedNow(path: string): { readonly pending: number; readonly sending: number } {
  using db = new Database(path, { readonly: true });
  const row = db
    .query<{ pending: number; sending: number }, []>(
      `select (select count(*) from callback where state = 'pending') as pending,
         (select count(*) from callback_attempt where ended_at is null) as sending`,
    )
    .get();
  if (row === null) throw new Error("A query without a table gave no row.");
  return row;
}

import type { Database } from "bun:sqlite";
import type { Callback } from "../../../domain/callback/callback.ts";

/** Returns a function that stores a new callback, due at once. */
export function prepareInsertCallback(db: Database) {
  const insert = db.prepare(
    `insert into callback (id, task_id, account_id, key_id, request_id, url, host, state, due_at, created_at, event,
       form, most_attempts, pool, attempts, sends, redeliver)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'ready', 0, 0, 0)`,
  );
  return (callback: Callback): void => {
    const { id, taskId, accountId, keyId, requestId, url, host, state, dueAt, createdAt, event } = callback;
    const { form = null, mostAttempts = null } = callback;
    const owners = [id, taskId, accountId, keyId, requestId] as const;
    insert.run(...owners, url, host, state, dueAt, createdAt, event, form, mostAttempts);
  };
}

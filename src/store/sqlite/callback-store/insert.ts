import type { Database } from "bun:sqlite";
import type { Callback } from "../../../domain/callback/callback.ts";

/** Returns a function that stores a new callback, due at once. */
export function prepareInsertCallback(db: Database) {
  const insert = db.prepare(
    `insert into callback (id, task_id, account_id, key_id, request_id, url, host, state, due_at, created_at,
       pool, attempts, sends, redeliver)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'ready', 0, 0, 0)`,
  );
  return (callback: Callback): void => {
    insert.run(
      callback.id,
      callback.taskId,
      callback.accountId,
      callback.keyId,
      callback.requestId,
      callback.url,
      callback.host,
      callback.state,
      callback.dueAt,
      callback.createdAt,
    );
  };
}

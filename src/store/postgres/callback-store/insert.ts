import type { Callback } from "../../../domain/callback/callback.ts";
import { type Parameter, type Session, statement } from "../session.ts";

const INSERT = statement<never, Parameter[]>(
  `insert into callback (id, task_id, account_id, key_id, request_id, url, host, state, due_at, created_at, event,
     form, most_attempts, pool, attempts, sends, redeliver)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'ready', 0, 0, 0)`,
);

/** Stores a new callback, due at once. */
export async function insertCallback(session: Session, callback: Callback): Promise<void> {
  const { id, taskId, accountId, keyId, requestId, url, host, state, dueAt, createdAt, event } = callback;
  const { form = null, mostAttempts = null } = callback;
  const owners = [id, taskId, accountId, keyId, requestId] as const;
  await INSERT.run(session, ...owners, url, host, state, dueAt, createdAt, event, form, mostAttempts);
}

import type { CallbackAttempt, CallbackSend, Delivery } from "../../../domain/callback/callback.ts";
import { MAX_CALLBACK_ATTEMPTS } from "../../../domain/limits.ts";
import type { Connection } from "../connection.ts";

/** What deliveries of every kind have, if known. */
export type Known = Pick<Delivery, "kind"> &
  Pick<CallbackAttempt, "status" | "reason" | "address" | "excerpt">;

/** The pool of a callback after a send, as SQL: a redelivery that was requested meanwhile is still sent, whatever the outcome. */
export const poolOr = (pool: string): string => `case redeliver when 1 then 'ready' else ${pool} end`;

/** The body of `CallbackStore.record`. */
export function prepareRecord({ db }: Connection) {
  const end = db.prepare(
    `update callback_attempt set ended_at = ?, outcome = ?, http_status = ?, reason = ?, address = ?, excerpt = ?
     where callback_id = ? and sequence = ? and ended_at is null`,
  );
  const delivered = db.prepare<never, [id: string]>(
    `update callback set state = 'delivered', pool = ${poolOr("null")} where id = ?`,
  );
  // Only the latest attempt decides about the next one.
  const retry = db.prepare<never, [dueAt: number, id: string, attempt: number]>(
    `update callback set due_at = ?, pool = ${poolOr("'waiting'")}
     where id = ? and attempts = ? and state = 'pending'`,
  );
  const giveUp = db.prepare<never, [id: string, attempt: number]>(
    `update callback set state = 'failed', pool = ${poolOr("null")}
     where id = ? and attempts = ? and state = 'pending'`,
  );
  return (
    { callback, sequence, isRedelivery }: CallbackSend,
    delivery: Delivery,
    at: number,
    retryAt?: number,
  ): void => {
    const { id, attempts, mostAttempts = MAX_CALLBACK_ATTEMPTS } = callback;
    const known: Known = delivery;
    const { kind, status = null, reason = null, address = null, excerpt = null } = known;
    const { changes } = end.run(at, kind, status, reason, address, excerpt, id, sequence);
    if (changes === 0) return;
    if (delivery.kind === "delivered") delivered.run(id);
    else if (isRedelivery) return;
    else if (retryAt !== undefined && attempts < mostAttempts) retry.run(retryAt, id, attempts);
    else giveUp.run(id, attempts);
  };
}

import type { CallbackSend, Delivery } from "../../../domain/callback/callback.ts";
import { MAX_CALLBACK_ATTEMPTS } from "../../../domain/limits.ts";
import type { Connection } from "../connection.ts";

type Text = string | null;

/** The body of `CallbackStore.record`. */
export function prepareRecord({ db }: Connection) {
  const end = db.prepare<
    never,
    [
      at: number,
      outcome: string,
      status: number | null,
      reason: Text,
      address: Text,
      excerpt: Text,
      callback: string,
      sequence: number,
    ]
  >(
    `update callback_attempt set ended_at = ?, outcome = ?, http_status = ?, reason = ?, address = ?, excerpt = ?
     where callback_id = ? and sequence = ? and ended_at is null`,
  );
  // A redelivery that was requested meanwhile is still sent, whatever the outcome.
  const poolOr = (pool: string) => `case redeliver when 1 then 'ready' else ${pool} end`;
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
    { callback, sequence, isRedelivery }: Pick<CallbackSend, "callback" | "sequence" | "isRedelivery">,
    delivery: Delivery,
    at: number,
    retryAt?: number,
  ): void => {
    const { id, attempts } = callback;
    const { changes } = end.run(
      at,
      delivery.kind,
      "status" in delivery ? delivery.status : null,
      "reason" in delivery ? delivery.reason : null,
      ("address" in delivery ? delivery.address : undefined) ?? null,
      ("excerpt" in delivery ? delivery.excerpt : undefined) ?? null,
      id,
      sequence,
    );
    if (changes === 0) return;
    if (delivery.kind === "delivered") delivered.run(id);
    else if (isRedelivery) return;
    else if (retryAt !== undefined && attempts < MAX_CALLBACK_ATTEMPTS) retry.run(retryAt, id, attempts);
    else giveUp.run(id, attempts);
  };
}

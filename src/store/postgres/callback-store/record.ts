import type { CallbackSend, Delivery } from "../../../domain/callback/callback.ts";
import { MAX_CALLBACK_ATTEMPTS } from "../../../domain/limits.ts";
import { type Known, poolOr } from "../../sqlite/callback-store/record.ts";
import { type Parameter, type Session, statement } from "../session.ts";

const END = statement<never, Parameter[]>(
  `update callback_attempt set ended_at = $1, outcome = $2, http_status = $3, reason = $4, address = $5, excerpt = $6
   where callback_id = $7 and sequence = $8 and ended_at is null`,
);
const DELIVERED = statement<never, [id: string]>(
  `update callback set state = 'delivered', pool = ${poolOr("null")} where id = $1`,
);
// Only the latest attempt decides about the next one.
const RETRY = statement<never, [dueAt: number, id: string, attempt: number]>(
  `update callback set due_at = $1, pool = ${poolOr("'waiting'")}
   where id = $2 and attempts = $3 and state = 'pending'`,
);
const GIVE_UP = statement<never, [id: string, attempt: number]>(
  `update callback set state = 'failed', pool = ${poolOr("null")}
   where id = $1 and attempts = $2 and state = 'pending'`,
);

/** The body of `CallbackStore.record`. It holds the row of the callback's account. */
export async function recordSend(
  session: Session,
  { callback, sequence, isRedelivery }: CallbackSend,
  delivery: Delivery,
  at: number,
  retryAt?: number,
): Promise<void> {
  const { id, attempts, mostAttempts = MAX_CALLBACK_ATTEMPTS } = callback;
  const known: Known = delivery;
  const { kind, status = null, reason = null, address = null, excerpt = null } = known;
  const ended = await END.run(session, at, kind, status, reason, address, excerpt, id, sequence);
  if (ended === 0) return;
  if (delivery.kind === "delivered") await DELIVERED.run(session, id);
  else if (isRedelivery) return;
  else if (retryAt !== undefined && attempts < mostAttempts) await RETRY.run(session, retryAt, id, attempts);
  else await GIVE_UP.run(session, id, attempts);
}

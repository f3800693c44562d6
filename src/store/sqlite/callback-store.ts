import { eq, sql } from "drizzle-orm";
import type { Callback, Delivery } from "../../domain/callback.ts";
import type { CallbackId } from "../../domain/ids.ts";
import { MAX_CALLBACK_SENDS } from "../../domain/limits.ts";
import type { CallbackStore } from "../../domain/ports/callback-store.ts";
import type { Connection } from "./connection.ts";
import { toCallback } from "./rows.ts";
import { callback } from "./schema.ts";

type ClaimQuery = Parameters<CallbackStore["claim"]>[0];

/** Callbacks in SQLite. Raw statements for the writes, each a guarded update of one row. */
export function createCallbackStore(connection: Connection): CallbackStore {
  const { db, orm, read, write } = connection;
  const byId = orm
    .select()
    .from(callback)
    .where(eq(callback.id, sql.placeholder("id")))
    .prepare();
  const nextDue = db.prepare<{ due_at: number }, []>(
    `select due_at from callback indexed by callback_due where state = 'due' order by due_at limit 1`,
  );
  const claim = prepareClaim(connection);
  const record = prepareRecord(connection);
  return {
    claim: (query) => write(() => claim(query)),
    record: (id, attempt, delivery, at, retryAt) => write(() => record(id, attempt, delivery, at, retryAt)),
    nextDueAt: async () => read(() => nextDue.get()?.due_at),
    byId: async (id) =>
      read(() => {
        const row = byId.get({ id });
        return row && toCallback(row);
      }),
  };
}

function prepareClaim({ db, orm }: Connection) {
  // One whose last attempt has neither outcome nor lease left: the process died while sending it.
  const bury = db.prepare<never, [now: number, most: number]>(
    `update callback indexed by callback_due set state = 'dead' where state = 'due' and due_at <= ? and attempts >= ?`,
  );
  const due = db.prepare<{ id: CallbackId }, [now: number, limit: number]>(
    `select id from callback indexed by callback_due where state = 'due' and due_at <= ? order by due_at limit ?`,
  );
  const take = orm
    .update(callback)
    .set({ attempts: sql`${callback.attempts} + 1`, dueAt: sql`${sql.placeholder("until")}` })
    .where(eq(callback.id, sql.placeholder("id")))
    .returning()
    .prepare();
  const begin = db.prepare<never, [callback: string, sequence: number, at: number]>(
    "insert into callback_attempt (callback_id, sequence, started_at) values (?, ?, ?)",
  );
  return ({ now, leaseMs, limit }: ClaimQuery): Callback[] => {
    bury.run(now, MAX_CALLBACK_SENDS);
    return due.all(now, limit).map(({ id }) => {
      const taken = toCallback(take.get({ id, until: now + leaseMs }));
      begin.run(id, taken.attempts, now);
      return taken;
    });
  };
}

function prepareRecord({ db }: Connection) {
  const end = db.prepare<
    never,
    [
      at: number,
      outcome: string,
      status: number | null,
      reason: string | null,
      callback: string,
      sequence: number,
    ]
  >(
    `update callback_attempt set ended_at = ?, outcome = ?, http_status = ?, reason = ?
     where callback_id = ? and sequence = ? and ended_at is null`,
  );
  // A delivery counts whichever attempt made it; anything else only from the attempt that is the latest.
  const delivered = db.prepare<never, [id: string]>(
    "update callback set state = 'delivered' where id = ? and state = 'due'",
  );
  const retry = db.prepare<never, [dueAt: number, id: string, attempt: number]>(
    "update callback set due_at = ? where id = ? and attempts = ? and state = 'due'",
  );
  const giveUp = db.prepare<never, [id: string, attempt: number]>(
    "update callback set state = 'dead' where id = ? and attempts = ? and state = 'due'",
  );
  return (id: CallbackId, attempt: number, delivery: Delivery, at: number, retryAt?: number): void => {
    const status = "status" in delivery ? delivery.status : null;
    const reason = "reason" in delivery ? delivery.reason : null;
    if (end.run(at, delivery.kind, status, reason, id, attempt).changes === 0) return;
    if (delivery.kind === "delivered") delivered.run(id);
    else if (retryAt !== undefined && attempt < MAX_CALLBACK_SENDS) retry.run(retryAt, id, attempt);
    else giveUp.run(id, attempt);
  };
}

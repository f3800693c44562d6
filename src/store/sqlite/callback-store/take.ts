import { eq, sql } from "drizzle-orm";
import type { CallbackSend } from "../../../domain/callback/callback.ts";
import type { CallbackId } from "../../../domain/ids.ts";
import type { Connection } from "../connection.ts";
import { callback, toCallback } from "./callback-table.ts";

/** Returns a function that counts a send of a callback before it leaves, and returns what to send. */
export function prepareTake({ db, orm }: Connection) {
  // A redelivery does not change the time of the next attempt.
  const take = orm
    .update(callback)
    .set({
      sends: sql`${callback.sends} + 1`,
      attempts: sql`${callback.attempts} + (1 - ${callback.redeliver})`,
      dueAt: sql`case ${callback.redeliver} when 1 then ${callback.dueAt} else ${sql.placeholder("until")} end`,
      pool: sql`case ${callback.state} when 'pending' then 'waiting' end`,
      redeliver: false,
    })
    .where(eq(callback.id, sql.placeholder("id")))
    .returning()
    .prepare();
  const begin = db.prepare<
    never,
    [callback: string, sequence: number, isRedelivery: 0 | 1, startedAt: number]
  >("insert into callback_attempt (callback_id, sequence, is_redelivery, started_at) values (?, ?, ?, ?)");
  return (
    { id, redeliver }: { readonly id: CallbackId; readonly redeliver: 0 | 1 },
    now: number,
    until: number,
  ): CallbackSend => {
    const row = take.get({ id, until });
    begin.run(id, row.sends, redeliver, now);
    return {
      callback: toCallback(row),
      sequence: row.sends,
      isRedelivery: redeliver === 1,
    };
  };
}

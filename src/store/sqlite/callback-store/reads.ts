import { and, asc, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { Callback, CallbackAttempt, CallbackSend } from "../../../domain/callback.ts";
import type { CallbackId } from "../../../domain/ids.ts";
import type { CallbackFilter } from "../../../domain/ports/callback-store.ts";
import type { Connection } from "../connection.ts";
import { toCallback, toCallbackAttempt } from "../rows.ts";
import { callback, callbackAttempt } from "../schema.ts";

/** What callbacks are like, and what was sent of them. */
export function prepareReads({ orm }: Connection) {
  const byId = orm
    .select()
    .from(callback)
    .where(eq(callback.id, sql.placeholder("id")))
    .prepare();
  const attemptsOf = orm
    .select()
    .from(callbackAttempt)
    .where(eq(callbackAttempt.callbackId, sql.placeholder("id")))
    .orderBy(asc(callbackAttempt.sequence))
    .prepare();
  const unfinished = orm
    .select()
    .from(callbackAttempt)
    .innerJoin(callback, eq(callback.id, callbackAttempt.callbackId))
    .where(sql`${callbackAttempt.endedAt} is null`)
    .prepare();

  function find(id: CallbackId): Callback | undefined {
    const row = byId.get({ id });
    return row && toCallback(row);
  }

  return {
    byId: find,
    attempts: (id: CallbackId): CallbackAttempt[] => attemptsOf.all({ id }).map(toCallbackAttempt),
    list(filter: CallbackFilter): Callback[] {
      const after = filter.after === undefined ? undefined : find(filter.after);
      if (filter.after !== undefined && after === undefined) return [];
      return orm
        .select()
        .from(callback)
        .where(and(...conditionsOf(filter, after)))
        .orderBy(desc(callback.createdAt), desc(callback.id))
        .limit(filter.limit)
        .all()
        .map(toCallback);
    },
    unfinished: (): CallbackSend[] =>
      unfinished.all().map((row) => ({
        callback: toCallback(row.callback),
        sequence: row.callback_attempt.sequence,
        isRedelivery: row.callback_attempt.isRedelivery,
      })),
  };
}

function conditionsOf(filter: CallbackFilter, after: Callback | undefined): (SQL | undefined)[] {
  const { accountId, id, taskId, state, from, to } = filter;
  return [
    eq(callback.accountId, accountId),
    id && eq(callback.id, id),
    taskId && eq(callback.taskId, taskId),
    state && eq(callback.state, state),
    from === undefined ? undefined : gte(callback.createdAt, from),
    to === undefined ? undefined : lt(callback.createdAt, to),
    after && sql`(${callback.createdAt}, ${callback.id}) < (${after.createdAt}, ${after.id})`,
  ];
}

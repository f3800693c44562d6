import { asc, desc, eq, sql } from "drizzle-orm";
import type { Callback, CallbackAttempt, CallbackSend } from "../../../domain/callback/callback.ts";
import type { CallbackId } from "../../../domain/ids.ts";
import type { CallbackFilter } from "../../../domain/ports/callback-store.ts";
import type { Connection } from "../connection.ts";
import { callback, callbackAttempt, toCallback, toCallbackAttempt } from "./callback-table.ts";

/** Sorts after every time and every id. */
const LAST = { at: Number.MAX_SAFE_INTEGER, id: "~" } as const;

/** Reads callbacks and their sends. */
export function prepareReads(connection: Connection) {
  const { orm } = connection;
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

  const list = prepareList(connection, find);

  return {
    byId: find,
    attempts: (id: CallbackId): CallbackAttempt[] => attemptsOf.all({ id }).map(toCallbackAttempt),
    list,
    unfinished: (): CallbackSend[] =>
      unfinished.all().map((row) => ({
        callback: toCallback(row.callback),
        sequence: row.callback_attempt.sequence,
        isRedelivery: row.callback_attempt.isRedelivery,
      })),
  };
}

/** Returns a function that lists an account's callbacks. Its statements are prepared once, whatever the filter. */
function prepareList({ orm }: Connection, find: (id: CallbackId) => Callback | undefined) {
  const ofTask = orm
    .select()
    .from(callback)
    .where(eq(callback.taskId, sql.placeholder("id")))
    .prepare();
  const page = (isOfState: boolean) =>
    orm
      .select()
      .from(callback)
      .where(
        sql`${callback.accountId} = ${sql.placeholder("account")}
          ${isOfState ? sql`and ${callback.state} = ${sql.placeholder("state")}` : sql``}
          and ${callback.createdAt} >= ${sql.placeholder("from")} and ${callback.createdAt} < ${sql.placeholder("to")}
          and (${callback.createdAt}, ${callback.id}) < (${sql.placeholder("at")}, ${sql.placeholder("after")})`,
      )
      .orderBy(desc(callback.createdAt), desc(callback.id))
      .limit(sql.placeholder("limit"))
      .prepare();
  const [pageOfAll, pageOfState] = [page(false), page(true)];

  return (filter: CallbackFilter): Callback[] => {
    const { accountId, id, taskId, state, from = 0, to = LAST.at, limit } = filter;
    const isMeant = (one: Callback) =>
      one.accountId === accountId &&
      (id === undefined || one.id === id) &&
      (taskId === undefined || one.taskId === taskId) &&
      (state === undefined || one.state === state) &&
      one.createdAt >= from &&
      one.createdAt < to;
    if (id !== undefined) return [find(id)].filter((one) => one !== undefined).filter(isMeant);
    if (taskId !== undefined) return ofTask.all({ id: taskId }).map(toCallback).filter(isMeant);
    const last = filter.after === undefined ? undefined : find(filter.after);
    if (filter.after !== undefined && last === undefined) return [];
    const [at, after] = [last?.createdAt ?? LAST.at, last?.id ?? LAST.id];
    const query = { account: accountId, from, to, at, after, limit };
    const rows = state === undefined ? pageOfAll.all(query) : pageOfState.all({ ...query, state });
    return rows.map(toCallback);
  };
}

import { asc, eq, sql } from "drizzle-orm";
import type { Callback, CallbackAttempt, CallbackSend } from "../../../domain/callback/callback.ts";
import type { CallbackId, TaskId } from "../../../domain/ids.ts";
import type { CallbackFilter } from "../../../domain/ports/callback-store.ts";
import { madeAtUse } from "../../../toolkit/made-at-use.ts";
import type { Connection } from "../connection.ts";
import { callback, callbackAttempt, toCallback, toCallbackAttempt } from "./callback-table.ts";
import { END, endOf, type Lists } from "./lists.ts";

export interface Reads {
  byId(id: CallbackId): Callback | undefined;
  ofTask(id: TaskId): Callback | undefined;
  attempts(id: CallbackId): CallbackAttempt[];
  list(filter: CallbackFilter): Callback[];
  unfinished(): CallbackSend[];
}

/** Reads callbacks and their sends. */
export function prepareReads(connection: Connection, lists: Lists): Reads {
  // Each is built by the query builder, which takes longer than a start should.
  const reads: Reads = madeAtUse<Reads>({
    byId: () => prepareBy(connection, callback.id),
    ofTask: () => prepareBy(connection, callback.taskId),
    attempts: () => prepareAttempts(connection),
    list: () => prepareList(lists, reads),
    unfinished: () => prepareUnfinished(connection),
  });
  return reads;
}

function prepareBy({ orm }: Connection, column: typeof callback.id | typeof callback.taskId) {
  const rows = orm
    .select()
    .from(callback)
    .where(eq(column, sql.placeholder("value")))
    .prepare();
  return (value: CallbackId | TaskId): Callback | undefined => rows.all({ value }).map(toCallback)[0];
}

function prepareAttempts({ orm }: Connection) {
  const attemptsOf = orm
    .select()
    .from(callbackAttempt)
    .where(eq(callbackAttempt.callbackId, sql.placeholder("id")))
    .orderBy(asc(callbackAttempt.sequence))
    .prepare();
  return (id: CallbackId): CallbackAttempt[] => attemptsOf.all({ id }).map(toCallbackAttempt);
}

/** Asked for at every start, most of which find none: looking takes less than building the query. */
function prepareUnfinished({ db, orm }: Connection) {
  const any = db.prepare("select 1 from callback_attempt where ended_at is null limit 1");
  return (): CallbackSend[] => {
    if (any.get() === null) return [];
    const unfinished = orm
      .select()
      .from(callbackAttempt)
      .innerJoin(callback, eq(callback.id, callbackAttempt.callbackId))
      .where(sql`${callbackAttempt.endedAt} is null`);
    return unfinished.all().map((row) => ({
      callback: toCallback(row.callback),
      sequence: row.callback_attempt.sequence,
      isRedelivery: row.callback_attempt.isRedelivery,
    }));
  };
}

/** Returns a function that lists an account's callbacks. Its statements are prepared once, whatever the filter. */
function prepareList(lists: Lists, by: Pick<Reads, "byId" | "ofTask">) {
  return (filter: CallbackFilter): Callback[] => {
    const { accountId, id, taskId, state, from = 0, to = END.at, limit } = filter;
    const isMeant = (one: Callback) =>
      one.accountId === accountId &&
      (id === undefined || one.id === id) &&
      (taskId === undefined || one.taskId === taskId) &&
      (state === undefined || one.state === state) &&
      one.createdAt >= from &&
      one.createdAt < to;
    if (id !== undefined || taskId !== undefined) {
      const one = id === undefined ? taskId && by.ofTask(taskId) : by.byId(id);
      return one && isMeant(one) ? [one] : [];
    }
    const last = filter.after === undefined ? undefined : by.byId(filter.after);
    if (filter.after !== undefined && last === undefined) return [];
    const { list } = lists(filter);
    const end = endOf(last, to);
    const rows = list.all(accountId, state ?? null, from, "", end.at, end.id, null, limit);
    return rows.flatMap((row) => by.byId(row.id) ?? []);
  };
}

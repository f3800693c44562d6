import { asc, desc, eq, sql } from "drizzle-orm";
import type { Callback, CallbackAttempt, CallbackSend } from "../../../domain/callback/callback.ts";
import type { CallbackId, TaskId } from "../../../domain/ids.ts";
import type { CallbackFilter } from "../../../domain/ports/callback-store.ts";
import { madeAtUse } from "../../../toolkit/made-at-use.ts";
import type { Connection } from "../connection.ts";
import { callback, callbackAttempt, MOST_OF_TASK, toCallback, toCallbackAttempt } from "./callback-table.ts";
import { END, endOf, isMeant, type Lists } from "./lists.ts";

/** Whether a callback comes after another one in a list that is newest first. */
export function isOlder(one: Callback, than: Callback | undefined): boolean {
  if (than === undefined) return false;
  return one.createdAt < than.createdAt || (one.createdAt === than.createdAt && one.id < than.id);
}

export interface Reads {
  byId(id: CallbackId): Callback | undefined;
  /** Newest first. */
  ofTask(id: TaskId): Callback[];
  attempts(id: CallbackId): CallbackAttempt[];
  list(filter: CallbackFilter): Callback[];
  unfinished(begunBefore?: number): CallbackSend[];
}

/** Reads callbacks and their sends. */
export function prepareReads(connection: Connection, lists: Lists): Reads {
  // Each is built by the query builder, which takes longer than a start may take.
  const reads: Reads = madeAtUse<Reads>({
    byId: () => prepareById(connection),
    ofTask: () => prepareOfTask(connection),
    attempts: () => prepareAttempts(connection),
    list: () => prepareList(lists, reads),
    unfinished: () => prepareUnfinished(connection),
  });
  return reads;
}

function prepareById({ orm }: Connection) {
  const rows = orm
    .select()
    .from(callback)
    .where(eq(callback.id, sql.placeholder("id")))
    .prepare();
  return (id: CallbackId): Callback | undefined => rows.all({ id }).map(toCallback)[0];
}

function prepareOfTask({ orm }: Connection) {
  const rows = orm
    .select()
    .from(callback)
    .where(eq(callback.taskId, sql.placeholder("id")))
    .orderBy(desc(callback.createdAt), desc(callback.id))
    .limit(MOST_OF_TASK)
    .prepare();
  return (id: TaskId): Callback[] => rows.all({ id }).map(toCallback);
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

/** Every start asks this, and most starts find none: this check takes less time than building the query. */
function prepareUnfinished({ db, orm }: Connection) {
  const any = db.prepare("select 1 from callback_attempt where ended_at is null limit 1");
  return (begunBefore = Number.MAX_SAFE_INTEGER): CallbackSend[] => {
    if (any.get() === null) return [];
    const unfinished = orm
      .select()
      .from(callbackAttempt)
      .innerJoin(callback, eq(callback.id, callbackAttempt.callbackId))
      .where(sql`${callbackAttempt.endedAt} is null and ${callbackAttempt.startedAt} < ${begunBefore}`);
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
    if (id !== undefined || taskId !== undefined) {
      const all = id === undefined ? (taskId ? by.ofTask(taskId) : []) : [by.byId(id)];
      const isAfter = (one: Callback) => filter.after === undefined || isOlder(one, by.byId(filter.after));
      return all.flatMap((one) => (one && isMeant(one, filter) && isAfter(one) ? [one] : [])).slice(0, limit);
    }
    const last = filter.after === undefined ? undefined : by.byId(filter.after);
    if (filter.after !== undefined && last === undefined) return [];
    const { list } = lists(filter);
    const end = endOf(last, to);
    const rows = list.all(accountId, state ?? null, from, "", end.at, end.id, null, limit);
    return rows.flatMap((row) => by.byId(row.id) ?? []);
  };
}

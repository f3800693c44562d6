import type { Callback, CallbackAttempt, CallbackSend } from "../../../domain/callback/callback.ts";
import type { CallbackId, TaskId } from "../../../domain/ids.ts";
import type { CallbackFilter, ManagedCallback } from "../../../domain/ports/callback-store.ts";
import {
  callback,
  callbackAttempt,
  MOST_OF_TASK,
  toCallback,
  toCallbackAttempt,
} from "../../sqlite/callback-store/callback-table.ts";
import { END, endOf, isMeant } from "../../sqlite/callback-store/lists.ts";
import { isOlder } from "../../sqlite/callback-store/reads.ts";
import type { RawRow } from "../../sqlite/raw-row.ts";
import { rowOf } from "../row.ts";
import { type Session, statement } from "../session.ts";
import { listsOf } from "./lists.ts";
import { COLUMNS, type NamedRow } from "./named-row.ts";

const BY_ID = statement<NamedRow, [id: string]>(`select ${COLUMNS} from callback where id = $1`);
const OF_TASK = statement<NamedRow, [id: string]>(
  `select ${COLUMNS} from callback where task_id = $1 order by created_at desc, id desc limit ${MOST_OF_TASK}`,
);
const ATTEMPTS = statement<RawRow<typeof callbackAttempt>, [id: string]>(
  "select * from callback_attempt where callback_id = $1 order by sequence",
);
const UNFINISHED = statement<
  NamedRow & Pick<RawRow<typeof callbackAttempt>, "sequence" | "is_redelivery">,
  [before: number]
>(
  `select ${COLUMNS}, sequence, is_redelivery from callback_attempt join callback on callback.id = callback_id
   where ended_at is null and started_at < $1 order by callback_id, sequence`,
);

const [fields, attemptFields] = [rowOf(callback), rowOf(callbackAttempt)];

const callbackIn = (row: RawRow<typeof callback>): Callback => toCallback(fields(row));

/** Falls back to the owners' ids if they no longer have names. */
export function managedIn(row: NamedRow): ManagedCallback {
  const one = callbackIn(row);
  return {
    ...one,
    account: { id: one.accountId, name: row.account_name ?? one.accountId },
    key: { id: one.keyId, name: row.key_name ?? one.keyId },
  };
}

export const findRow = (session: Session, id: CallbackId) => BY_ID.get(session, id);
/** Newest first. */
export const rowsOfTask = (session: Session, id: TaskId) => OF_TASK.all(session, id);

export async function findCallback(session: Session, id: CallbackId): Promise<Callback | undefined> {
  const row = await findRow(session, id);
  return row && callbackIn(row);
}

export async function attemptsOf(session: Session, id: CallbackId): Promise<CallbackAttempt[]> {
  return (await ATTEMPTS.all(session, id)).map((row) => toCallbackAttempt(attemptFields(row)));
}

/** Sends without an outcome that were begun before a time. */
export async function unfinishedSends(
  session: Session,
  begunBefore = Number.MAX_SAFE_INTEGER,
): Promise<CallbackSend[]> {
  const rows = await UNFINISHED.all(session, begunBefore);
  return rows.map((row) => ({
    callback: callbackIn(row),
    sequence: row.sequence,
    isRedelivery: row.is_redelivery === 1,
  }));
}

/** The body of `CallbackStore.list`. */
export async function listCallbacks(session: Session, filter: CallbackFilter): Promise<Callback[]> {
  const { accountId, id, taskId, state, from = 0, to = END.at, limit, after } = filter;
  const last = after === undefined ? undefined : await findCallback(session, after);
  if (id !== undefined || taskId !== undefined) {
    const one = id === undefined ? undefined : await findCallback(session, id);
    const ofTask = id === undefined && taskId ? (await rowsOfTask(session, taskId)).map(callbackIn) : [];
    const all = one === undefined ? ofTask : [one];
    const isAfter = (each: Callback) => after === undefined || isOlder(each, last);
    return all.filter((each) => isMeant(each, filter) && isAfter(each)).slice(0, limit);
  }
  if (after !== undefined && last === undefined) return [];
  const { list } = listsOf(filter);
  const end = endOf(last, to);
  const rows = await list.all(session, accountId, state ?? null, from, "", end.at, end.id, null, limit);
  return rows.map(callbackIn);
}

import type { Database } from "bun:sqlite";
import type { Callback } from "../../../domain/callback/callback.ts";
import type { CallbackId } from "../../../domain/ids.ts";
import type { ManagedCallbackFilter } from "../../../domain/ports/callback-store.ts";

/** Most callbacks that one page considers. A filter that few of them match must not delay other callers. */
export const LOOKED_AT = 1_000;

/** A place in the order of callbacks. */
interface Mark {
  readonly at: number;
  readonly id: string;
}
/** Sorts after every callback. */
export const END: Mark = { at: Number.MAX_SAFE_INTEGER, id: "~" };

/** The upper bound of a page: the last callback of the previous page, or a time. */
export function endOf(last: Callback | undefined, to: number): Mark {
  if (last !== undefined && last.createdAt < to) return { at: last.createdAt, id: last.id };
  return to === END.at ? END : { at: to, id: "" };
}

/** Whether a filter names a callback, wherever its page begins. */
export function isMeant(one: Callback, filter: Omit<ManagedCallbackFilter, "limit">): boolean {
  const { accountId, keyId, id, taskId, state, from = 0, to = END.at } = filter;
  return (
    (accountId === undefined || one.accountId === accountId) &&
    (keyId === undefined || one.keyId === keyId) &&
    (id === undefined || one.id === id) &&
    (taskId === undefined || one.taskId === taskId) &&
    (state === undefined || one.state === state) &&
    one.createdAt >= from &&
    one.createdAt < to
  );
}

export type Lists = ReturnType<typeof prepareLists>;

type Owner = [account: string | null, state: string | null];
type Bounds = [from: number, fromId: string, to: number, toId: string];

/** Returns a function that chooses the statements of a filter, each on an index in the order of the list. */
export function prepareLists(db: Database) {
  const prepare = (index: string, where: string, more = "") => {
    const from = `from callback indexed by ${index} where ${where}
      and (created_at, id) >= (?3, ?4) and (created_at, id) < (?5, ?6)`;
    const newestFirst = "order by created_at desc, id desc limit";
    return {
      /** The last callback that a page considers; null if it can consider all that are left. */
      floor: db.prepare<{ id: CallbackId; created_at: number }, [...Owner, ...Bounds]>(
        `select id, created_at ${from} ${newestFirst} 1 offset ${LOOKED_AT - 1}`,
      ),
      list: db.prepare<{ id: CallbackId }, [...Owner, ...Bounds, key: string | null, limit: number]>(
        `select id ${from} and (?7 is null or key_id = ?7) ${more} ${newestFirst} ?8`,
      ),
    };
  };
  const ofAccount = prepare("callback_of_account", "account_id = ?1 and ?2 is null");
  const ofState = prepare("callback_of_state", "account_id = ?1 and state = ?2");
  const failed = prepare("callback_failed", "state = 'failed' and ?1 is null and ?2 is not null");
  const all = prepare("callback_of_time", "?1 is null", "and (?2 is null or state = ?2)");
  return ({ accountId, keyId, state }: Pick<ManagedCallbackFilter, "accountId" | "keyId" | "state">) => {
    const isOfAll = accountId === undefined;
    const { floor, list } = isOfAll
      ? state === "failed"
        ? failed
        : all
      : state === undefined
        ? ofAccount
        : ofState;
    // Where every callback of the index is meant, a page is full after as many as it holds.
    const isAnyMeant = keyId === undefined && (list !== all.list || state === undefined);
    return { list, floor: isAnyMeant ? undefined : floor };
  };
}

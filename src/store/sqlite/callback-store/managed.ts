import type { Database } from "bun:sqlite";
import type { Callback } from "../../../domain/callback/callback.ts";
import type { CallbackId, TaskId } from "../../../domain/ids.ts";
import type {
  ManagedCallback,
  ManagedCallbackFilter,
  ManagedCallbackPage,
} from "../../../domain/ports/callback-store.ts";

/** Callbacks that one page looks at. A filter that few of them match must not hold up whoever else is served. */
export const LOOKED_AT = 1_000;

/** A place in the order of callbacks. */
interface Mark {
  readonly at: number;
  readonly id: string;
}
/** Sorts after every callback. */
const END: Mark = { at: Number.MAX_SAFE_INTEGER, id: "~" };

interface Reads {
  readonly byId: (id: CallbackId) => Callback | undefined;
  readonly ofTask: (id: TaskId) => Callback | undefined;
}

/** Returns the body of `CallbackStore.managedCallbacks`. */
export function prepareManagedCallbacks(
  db: Database,
  { byId, ofTask }: Reads,
): (filter: ManagedCallbackFilter) => ManagedCallbackPage {
  const lists = prepareLists(db);
  const withNames = prepareNames(db);

  function page(filter: ManagedCallbackFilter): ManagedCallbackPage {
    const { accountId, keyId, state, from = 0, to = END.at, after, limit } = filter;
    const last = after === undefined ? undefined : byId(after);
    if (after !== undefined && last === undefined) return { callbacks: [] };
    const { floor, list } = lists(filter);
    const owner = [accountId ?? null, state ?? null] as const;
    const end = last !== undefined && last.createdAt < to ? { at: last.createdAt, id: last.id } : endAt(to);
    const bounds = [from, "", end.at, end.id] as const;
    const lowest = floor?.get(...owner, ...bounds);
    const [at, id] = lowest ? [lowest.created_at, lowest.id] : [from, ""];
    // One more than asked for shows whether there is another page.
    const rows = list.all(...owner, at, id, end.at, end.id, keyId ?? null, limit + 1);
    const callbacks = rows.slice(0, limit).flatMap((row) => withNames(byId(row.id)));
    return { callbacks, next: rows.length > limit ? callbacks.at(-1)?.id : lowest?.id };
  }

  return (filter) => {
    const { id, taskId } = filter;
    if (id === undefined && taskId === undefined) return page(filter);
    const one = id === undefined ? taskId && ofTask(taskId) : byId(id);
    return { callbacks: one !== undefined && isMeant(one, filter) ? withNames(one) : [] };
  };
}

const endAt = (to: number): Mark => (to === END.at ? END : { at: to, id: "" });

function isMeant(one: Callback, filter: ManagedCallbackFilter): boolean {
  const { accountId, keyId, taskId, state, from = 0, to = END.at } = filter;
  return (
    (accountId === undefined || one.accountId === accountId) &&
    (keyId === undefined || one.keyId === keyId) &&
    (taskId === undefined || one.taskId === taskId) &&
    (state === undefined || one.state === state) &&
    one.createdAt >= from &&
    one.createdAt < to
  );
}

type Owner = [account: string | null, state: string | null];
type Bounds = [from: number, fromId: string, to: number, toId: string];

/** Returns a function that chooses the statements of a filter, each on an index in the order of the list. */
function prepareLists(db: Database) {
  const prepare = (index: string, where: string, more = "") => {
    const from = `from callback indexed by ${index} where ${where}
      and (created_at, id) >= (?3, ?4) and (created_at, id) < (?5, ?6)`;
    const newestFirst = "order by created_at desc, id desc limit";
    return {
      /** The last callback that a page looks at; null where it can look at all that are left. */
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
  return ({ accountId, keyId, state }: ManagedCallbackFilter) => {
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

/** Returns a function that adds what a callback's owners are called; their ids where they are gone. */
function prepareNames(db: Database) {
  const nameIn = (table: "account" | "api_key") =>
    db.prepare<{ name: string }, [id: string]>(`select name from ${table} where id = ?`);
  const [account, key] = [nameIn("account"), nameIn("api_key")];
  return (callback: Callback | undefined): ManagedCallback[] => {
    if (callback === undefined) return [];
    const { accountId, keyId } = callback;
    return [
      {
        ...callback,
        account: { id: accountId, name: account.get(accountId)?.name ?? accountId },
        key: { id: keyId, name: key.get(keyId)?.name ?? keyId },
      },
    ];
  };
}

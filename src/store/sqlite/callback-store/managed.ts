import type { Database } from "bun:sqlite";
import type { Callback } from "../../../domain/callback/callback.ts";
import type { CallbackId, TaskId } from "../../../domain/ids.ts";
import type {
  ManagedCallback,
  ManagedCallbackFilter,
  ManagedCallbackPage,
} from "../../../domain/ports/callback-store.ts";
import { END, endOf, isMeant, type Lists } from "./lists.ts";

interface Reads {
  readonly byId: (id: CallbackId) => Callback | undefined;
  readonly ofTask: (id: TaskId) => Callback[];
}

/** Returns the body of `CallbackStore.managedCallbacks`. */
export function prepareManagedCallbacks(
  db: Database,
  lists: Lists,
  { byId, ofTask }: Reads,
): (filter: ManagedCallbackFilter) => ManagedCallbackPage {
  const withNames = prepareNames(db);

  function page(filter: ManagedCallbackFilter): ManagedCallbackPage {
    const { accountId, keyId, state, from = 0, to = END.at, after, limit } = filter;
    const last = after === undefined ? undefined : byId(after);
    if (after !== undefined && last === undefined) return { callbacks: [] };
    const { floor, list } = lists(filter);
    const owner = [accountId ?? null, state ?? null] as const;
    const end = endOf(last, to);
    const bounds = [from, "", end.at, end.id] as const;
    const lowest = floor?.get(...owner, ...bounds);
    const [at, id] = lowest ? [lowest.created_at, lowest.id] : [from, ""];
    // One more than requested shows whether there is another page.
    const rows = list.all(...owner, at, id, end.at, end.id, keyId ?? null, limit + 1);
    const callbacks = rows.slice(0, limit).flatMap((row) => withNames(byId(row.id)));
    return { callbacks, next: rows.length > limit ? callbacks.at(-1)?.id : lowest?.id };
  }

  return (filter) => {
    const { id, taskId } = filter;
    if (id === undefined && taskId === undefined) return page(filter);
    const one = id === undefined ? undefined : byId(id);
    const all = one === undefined ? (id === undefined && taskId ? ofTask(taskId) : []) : [one];
    const meant = all.filter((each) => isMeant(each, filter)).slice(0, filter.limit);
    return { callbacks: meant.flatMap(withNames) };
  };
}

/** Returns a function that adds the names of a callback's owners, or their ids if they were removed. */
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

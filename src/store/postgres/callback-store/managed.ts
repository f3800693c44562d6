import type { ManagedCallbackFilter, ManagedCallbackPage } from "../../../domain/ports/callback-store.ts";
import { END, endOf, isMeant } from "../../sqlite/callback-store/lists.ts";
import type { Session } from "../session.ts";
import { listsOf } from "./lists.ts";
import { findCallback, findRow, managedIn, rowsOfTask } from "./reads.ts";

/** The body of `CallbackStore.managedCallbacks`. */
export async function managedCallbacks(
  session: Session,
  filter: ManagedCallbackFilter,
): Promise<ManagedCallbackPage> {
  const { id, taskId } = filter;
  if (id === undefined && taskId === undefined) return page(session, filter);
  const one = id === undefined ? undefined : await findRow(session, id);
  const ofTask = id === undefined && taskId ? await rowsOfTask(session, taskId) : [];
  const all = (one === undefined ? ofTask : [one]).map(managedIn);
  return { callbacks: all.filter((each) => isMeant(each, filter)).slice(0, filter.limit) };
}

async function page(session: Session, filter: ManagedCallbackFilter): Promise<ManagedCallbackPage> {
  const { accountId, keyId, state, from = 0, to = END.at, after, limit } = filter;
  const last = after === undefined ? undefined : await findCallback(session, after);
  if (after !== undefined && last === undefined) return { callbacks: [] };
  const { floor, list } = listsOf(filter);
  const owner = [accountId ?? null, state ?? null] as const;
  const end = endOf(last, to);
  const lowest = await floor?.get(session, ...owner, from, "", end.at, end.id);
  const [at, first] = lowest ? [lowest.created_at, lowest.id] : [from, ""];
  // One more than requested shows whether there is another page.
  const rows = await list.all(session, ...owner, at, first, end.at, end.id, keyId ?? null, limit + 1);
  const callbacks = rows.slice(0, limit).map(managedIn);
  return { callbacks, next: rows.length > limit ? callbacks.at(-1)?.id : lowest?.id };
}

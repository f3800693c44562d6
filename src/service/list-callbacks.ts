import type { Principal } from "../domain/access/account.ts";
import { CALLBACK_STATES, type Callback, type CallbackState } from "../domain/callback/callback.ts";
import { invalid, mustBe } from "../domain/errors.ts";
import { type CallbackId, isId } from "../domain/ids.ts";
import type { CallbackFilter, CallbackStore } from "../domain/ports/callback-store.ts";
import { momentOf } from "./moment.ts";

/** The callbacks that a caller selects, as given. */
export interface CallbackSelection {
  readonly state?: string | undefined;
  readonly taskId?: string | undefined;
  /** ISO 8601, or Unix seconds. */
  readonly from?: string | number | undefined;
  readonly to?: string | number | undefined;
  readonly after?: string | undefined;
}

/** One page of callbacks, newest first. */
export interface CallbackPage<Item> {
  readonly callbacks: readonly Item[];
  /** Cursor of the next page; null on the last. */
  readonly next: CallbackId | null;
}

/**
 * Makes a filter from a caller's selection in its own account.
 * @throws AppError `invalid_request` naming the parameter at fault; a cursor of another account counts as unknown
 */
export async function filterOf(
  { callbacks }: { readonly callbacks: CallbackStore },
  { accountId }: Principal,
  selection: CallbackSelection,
): Promise<Omit<CallbackFilter, "limit">> {
  const { after } = selection;
  const checked = checkSelection(selection);
  const last = after !== undefined && isId("cb", after) ? await callbacks.byId(after) : undefined;
  if (after !== undefined && last?.accountId !== accountId) throw mustBe("after", { form: "cursor" }, after);
  return { accountId, ...checked, after: last?.id };
}

/**
 * Reads a caller's selection without the cursor.
 * @throws AppError `invalid_request` naming the parameter at fault
 */
export function checkSelection(selection: CallbackSelection) {
  const { state, taskId } = selection;
  if (state !== undefined && !isState(state)) throw mustBe("state", { oneOf: CALLBACK_STATES }, state);
  if (taskId !== undefined && !isId("task", taskId)) throw mustBe("task_id", { form: "task_id" }, taskId);
  const from = momentOf("from", selection.from);
  const to = momentOf("to", selection.to);
  if (from !== undefined && to !== undefined && from >= to)
    throw invalid({ kind: "not_after", field: "to", other: "from", given: selection.to ?? "" });
  return { state, taskId, from, to };
}

/**
 * One page of the callbacks of the caller's account, newest first.
 * @param query.limit ≥ 1
 * @throws AppError `invalid_request` naming the parameter at fault
 */
export async function listCallbacks(
  deps: { readonly callbacks: CallbackStore },
  principal: Principal,
  query: CallbackSelection & { readonly limit: number },
): Promise<CallbackPage<Callback>> {
  const filter = await filterOf(deps, principal, query);
  // One more than requested shows whether there is another page.
  const found = await deps.callbacks.list({ ...filter, limit: query.limit + 1 });
  const page = found.slice(0, query.limit);
  return { callbacks: page, next: found.length > query.limit ? (page.at(-1)?.id ?? null) : null };
}

function isState(text: string): text is CallbackState {
  return (CALLBACK_STATES as readonly string[]).includes(text);
}

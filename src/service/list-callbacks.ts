import type { Principal } from "../domain/access/account.ts";
import type { Callback } from "../domain/callback/callback.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import { type CallbackPage, type CallbackSelection, filterOf } from "./callback-selection.ts";

/**
 * One page of the callbacks of the caller's account, newest first.
 *
 * @param query.limit ≥ 1
 * @throws AppError `invalid_request` naming the parameter at fault
 */
export async function listCallbacks(
  deps: { readonly callbacks: CallbackStore },
  principal: Principal,
  query: CallbackSelection & { readonly limit: number },
): Promise<CallbackPage<Callback>> {
  const filter = await filterOf(deps, principal, query);
  // One more than asked for shows whether there is another page.
  const found = await deps.callbacks.list({ ...filter, limit: query.limit + 1 });
  const page = found.slice(0, query.limit);
  return { callbacks: page, next: found.length > query.limit ? (page.at(-1)?.id ?? null) : null };
}

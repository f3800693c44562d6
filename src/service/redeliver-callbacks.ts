import type { Principal } from "../domain/access/account.ts";
import type { Act } from "../domain/access/actor.ts";
import type { Callback } from "../domain/callback/callback.ts";
import { type AppError, invalid } from "../domain/errors.ts";
import type { CallbackFilter, CallbackStore } from "../domain/ports/callback-store.ts";
import type { CallbackFeed } from "../domain/ports/runtime.ts";
import { type CallbackPage, type CallbackSelection, filterOf } from "./list-callbacks.ts";
import { findCallback } from "./read-callback.ts";

export interface RedeliverDeps {
  readonly callbacks: CallbackStore;
  readonly redeliveries: CallbackFeed;
  /** Called when there are callbacks to send. */
  readonly callbacksDue: () => void;
  /** An operator's act, for the trail. */
  readonly act?: Act | undefined;
}

/** Most callbacks that one call sends again. */
export const MAX_REDELIVERIES = 100;

/**
 * Sends a callback once more, at once. This does not count as one of its five attempts. Asking again before the send begins changes
 * nothing.
 * @throws AppError `not_found` like `findCallback`; `invalid_request` when it reached the limit of redeliveries
 */
export async function redeliverCallback(
  deps: RedeliverDeps,
  principal: Principal,
  id: string,
): Promise<Callback> {
  return (await redeliverOne(deps, await findCallback(deps, principal, id))) ?? exhausted();
}

/** Requests one more send of a callback. @returns undefined when it reached the limit of redeliveries */
export async function redeliverOne(
  deps: RedeliverDeps,
  { accountId, id }: Pick<Callback, "accountId" | "id">,
): Promise<Callback | undefined> {
  const [asked] = await redeliver(deps, { accountId, id, limit: 1 });
  return asked?.isRedeliveryDue === true ? asked : undefined;
}

/** @throws AppError `invalid_request`, always */
export function exhausted(): never {
  throw invalid({ kind: "callback_exhausted" });
}

/**
 * Sends the callback of a task again, or those created in a range of time, newest first, at most `MAX_REDELIVERIES`.
 * @returns the callbacks that are sent again, without those at the limit of redeliveries, and the cursor for more
 * @throws AppError `invalid_request` unless exactly one of `taskId` and `from` is given
 */
export async function redeliverCallbacks(
  deps: RedeliverDeps,
  principal: Principal,
  selection: CallbackSelection,
): Promise<CallbackPage<Callback>> {
  requireSelection(selection);
  const filter = await filterOf(deps, principal, selection);
  const asked = await redeliver(deps, { ...filter, limit: MAX_REDELIVERIES });
  const callbacks = asked.filter(({ isRedeliveryDue }) => isRedeliveryDue);
  const last = asked.length < MAX_REDELIVERIES ? undefined : asked.at(-1)?.id;
  if (last === undefined) return { callbacks, next: null };
  const [more] = await deps.callbacks.list({ ...filter, after: last, limit: 1 });
  return { callbacks, next: more === undefined ? null : last };
}

/**
 * @throws AppError `invalid_request` unless exactly one of `taskId` and `from` is given, and nothing else is given with a task
 */
export function requireSelection({ taskId, ...range }: CallbackSelection): void {
  if (taskId === undefined && range.from === undefined) throw unselected("from", "neither");
  if (taskId !== undefined && Object.values(range).some((each) => each !== undefined))
    throw unselected("task_id", "both");
}

async function redeliver(deps: RedeliverDeps, filter: CallbackFilter): Promise<Callback[]> {
  const asked = await deps.callbacks.redeliver(filter, deps.act);
  const granted = asked.filter(({ isRedeliveryDue }) => isRedeliveryDue);
  for (const { keyId, id } of granted) deps.redeliveries.publish(keyId, id);
  if (granted.length > 0) deps.callbacksDue();
  return asked;
}

function unselected(field: string, given: "neither" | "both"): AppError {
  return invalid({ kind: "callbacks_unselected", field, given });
}

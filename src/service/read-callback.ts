import type { Principal } from "../domain/access/account.ts";
import type { Callback, CallbackAttempt } from "../domain/callback/callback.ts";
import { type WordingDeps, wordedBody } from "../domain/callback/worded.ts";
import { AppError } from "../domain/errors.ts";
import { isId } from "../domain/ids.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";

export interface ReadCallbackDeps extends WordingDeps {
  readonly callbacks: CallbackStore;
  readonly tasks: TaskStore;
}

/** A callback with its payload and its history. */
export interface CallbackReading<Found extends Callback = Callback> {
  readonly callback: Found;
  /** The JSON text of every send. */
  readonly payload: string;
  /** Every send, in order. */
  readonly history: readonly CallbackAttempt[];
}

/**
 * Finds a callback of the caller's account.
 * @throws AppError `not_found`, the same for a malformed id, an unknown callback and another account's callback
 */
export async function findCallback(
  { callbacks }: Pick<ReadCallbackDeps, "callbacks">,
  principal: Principal,
  id: string,
): Promise<Callback> {
  const callback = isId("cb", id) ? await callbacks.byId(id) : undefined;
  if (callback === undefined || callback.accountId !== principal.accountId)
    throw new AppError("not_found", { kind: "callback_unknown" });
  return callback;
}

/** Reads a callback with its payload and its history. @throws AppError `not_found` as `findCallback` does */
export async function readCallback(
  deps: ReadCallbackDeps,
  principal: Principal,
  id: string,
): Promise<CallbackReading> {
  return readRest(deps, await findCallback(deps, principal, id));
}

/** Adds a callback's payload and its history. */
export async function readRest<Found extends Callback>(
  deps: ReadCallbackDeps,
  callback: Found,
): Promise<CallbackReading<Found>> {
  const task = await deps.tasks.byId(callback.taskId);
  if (task === undefined) throw new Error(`Task ${callback.taskId} of a callback is not stored`);
  const history = await deps.callbacks.attempts(callback.id);
  return { callback, payload: await wordedBody(deps, task, callback), history };
}

import type { Principal } from "../domain/access/account.ts";
import { CALLBACK_HEADERS, type Callback, GROUP_ENDED } from "../domain/callback/callback.ts";
import { wordedPost } from "../domain/callback/worded.ts";
import type { CallbackId, TaskId } from "../domain/ids.ts";
import { type AccountStore, LOCKED } from "../domain/ports/account-store.ts";
import type { CallbackFeed, Secrets } from "../domain/ports/runtime.ts";
import { isTerminal, type Task, type TaskStatus, type TaskSummary } from "../domain/task/task.ts";
import { openBell } from "./bell.ts";
import type { ReadCallbackDeps } from "./read-callback.ts";
import { LOOK_AGAIN_MS } from "./task-changes.ts";
import type { WatchAccountDeps } from "./watch-account.ts";

export interface WatchCallbacksDeps extends WatchAccountDeps, ReadCallbackDeps {
  readonly accounts: Pick<AccountStore, "callbackSecret">;
  readonly redeliveries: CallbackFeed;
  readonly secrets: Pick<Secrets, "sign">;
}

/** What a receiver would get at the end of a task, whether or not the task has a callback address. */
export interface ListenedCallback {
  /**
   * The number of the change that ended the task. Absent for a redelivery, which cannot be read again later, and if another
   * callback of the same change follows.
   */
  readonly number?: number | undefined;
  readonly taskId: TaskId;
  /** Absent for a task without a callback address. */
  readonly callback?: Callback | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Most changes in one page. Each needs several more reads. */
const PAGE = 20;

/** How many redeliveries are kept for a slow reader; it misses later ones. */
const MAX_WAITING = 1_000;

/**
 * Yields the callback of each task of the caller's key that completed or failed, whether or not it was posted, and of each
 * group: first those after a number, in the order in which they ended, then each new one, until `signal` aborts. Redeliveries
 * that are requested meanwhile are included.
 * @param query.after where to begin, from `ChangePages.start`
 */
export async function* watchCallbacks(
  deps: WatchCallbacksDeps,
  { accountId, keyId }: Principal,
  query: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<ListenedCallback, void, undefined> {
  const { signal } = query;
  const bell = openBell(deps, signal);
  const redelivered = new Set<CallbackId>();
  const unsubscribeTasks = deps.feed.subscribeAccount(accountId, bell.ring);
  const unsubscribeCallbacks = deps.redeliveries.subscribe(keyId, (callback) => {
    if (redelivered.size < MAX_WAITING) redelivered.add(callback);
    bell.ring();
  });
  try {
    for (let after = query.after; !signal.aborted; ) {
      // Each needs several reads.
      await deps.pages.turn();
      const { changes, seen, isLast } = await deps.pages.after({ accountId, after, limit: PAGE });
      for (const { number, keyId: creator, task } of changes) {
        if (signal.aborted) return;
        if (creator === keyId && isTerminal(task.status)) yield* toldAtEnd(deps, task, number);
      }
      for (const id of redelivered) {
        if (signal.aborted) return;
        redelivered.delete(id);
        const callback = await deps.callbacks.byId(id);
        const task = callback && (await deps.tasks.byId(callback.taskId));
        // Neither exists any more after the task was deleted.
        if (task !== undefined) yield await toListened(deps, task, callback);
      }
      after = seen;
      if (isLast) await bell.rung(LOOK_AGAIN_MS);
    }
  } finally {
    unsubscribeTasks();
    unsubscribeCallbacks();
    bell.stop();
  }
}

/** The last callbacks of a task, among which are those of its end and of its group's end. */
const MOST_OF_TASK = 3;

/**
 * The callback for the end of a task, then the one for the end of its group if the task was the last. Only the last of them has
 * the number.
 */
async function* toldAtEnd(
  deps: WatchCallbacksDeps,
  { id, accountId }: Pick<TaskSummary, "id" | "accountId">,
  number: number,
): AsyncGenerator<ListenedCallback, void, undefined> {
  const task = await deps.tasks.byId(id);
  // It was deleted since the page was read, which other readers may get for a while.
  if (task === undefined) return;
  const ofTask = await deps.callbacks.list({ accountId, taskId: id, limit: MOST_OF_TASK });
  const ofGroup = ofTask.find(({ event }) => event === GROUP_ENDED);
  const own = ofTask.find(({ event }) => event === task.status);
  if (isCalledBack(task.status)) {
    const told = await toListened(deps, task, own);
    yield ofGroup === undefined ? { ...told, number } : told;
  }
  if (ofGroup !== undefined) yield { ...(await toListened(deps, task, ofGroup)), number };
}

async function toListened(
  deps: WatchCallbacksDeps,
  task: Task,
  callback: Callback | undefined,
): Promise<ListenedCallback> {
  const secret = await deps.accounts.callbackSecret(task.keyId);
  // The listener owns the key, and sees that the signature is missing.
  const kept = secret === LOCKED ? undefined : secret;
  const send = { id: callback?.id ?? task.id, at: deps.clock.now(), kept };
  const { body, headers } = await wordedPost(deps, task, callback, send);
  return { taskId: task.id, callback, headers: { ...CALLBACK_HEADERS, ...headers }, body };
}

function isCalledBack(status: TaskStatus): boolean {
  return status === "completed" || status === "failed";
}

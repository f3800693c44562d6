import type { Principal } from "../domain/access/account.ts";
import { CALLBACK_HEADERS, type Callback } from "../domain/callback/callback.ts";
import { callbackPost } from "../domain/callback/callback-payload.ts";
import type { TaskId } from "../domain/ids.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import type { CallbackFeed, Secrets } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { TaskStatus, TaskSummary } from "../domain/task/task.ts";
import { openBell } from "./bell.ts";
import { LOOK_AGAIN_MS } from "./task-changes.ts";
import type { WatchAccountDeps } from "./watch-account.ts";

export interface WatchCallbacksDeps extends WatchAccountDeps {
  readonly tasks: TaskStore;
  readonly callbacks: CallbackStore;
  readonly accounts: Pick<AccountStore, "callbackSecret">;
  readonly redeliveries: CallbackFeed;
  readonly secrets: Pick<Secrets, "sign">;
  /** Where this service is reached, when it is set; else the creating request's origin counts. */
  readonly publicUrl?: string | undefined;
}

/** What a receiver would be sent at the end of a task, whether or not there is one. */
export interface ListenedCallback {
  /** Of the task's end; absent for a redelivery, which nobody can come back for. */
  readonly number?: number | undefined;
  readonly taskId: TaskId;
  /** Absent for a task without an address to call. */
  readonly callback?: Callback | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Changes that are read at once; what is posted at each is several reads more. */
const PAGE = 20;

/** Redeliveries that wait for a reader; later ones are lost to one who is slower than that. */
const MAX_WAITING = 1_000;

/**
 * What is posted, or would be, at the end of each task that the caller's key created and that completed or failed: those after a
 * number in the order of their ends, then each as it comes, until `signal` aborts. Callbacks that are asked to be sent again
 * meanwhile are told too.
 *
 * @param query.after where to begin, of `ChangePages.start`
 */
export async function* watchCallbacks(
  deps: WatchCallbacksDeps,
  { accountId, keyId }: Principal,
  query: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<ListenedCallback, void, undefined> {
  const { signal } = query;
  const bell = openBell(deps, signal);
  const redelivered = new Set<TaskId>();
  const unsubscribeTasks = deps.feed.subscribeAccount(accountId, bell.ring);
  const unsubscribeCallbacks = deps.redeliveries.subscribe(keyId, (task) => {
    if (redelivered.size < MAX_WAITING) redelivered.add(task);
    bell.ring();
  });
  try {
    for (let after = query.after; !signal.aborted; ) {
      // Each of them is several reads.
      await deps.pages.turn();
      const { changes, seen, isLast } = await deps.pages.after({ accountId, after, limit: PAGE });
      for (const { number, keyId: creator, task } of changes) {
        if (signal.aborted) return;
        if (creator === keyId && isCalledBack(task.status))
          yield { ...(await toListened(deps, task)), number };
      }
      for (const task of redelivered) {
        if (signal.aborted) return;
        redelivered.delete(task);
        yield await toListened(deps, { id: task, accountId });
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

async function toListened(
  deps: WatchCallbacksDeps,
  { id, accountId }: Pick<TaskSummary, "id" | "accountId">,
): Promise<ListenedCallback> {
  const task = await deps.tasks.byId(id);
  if (task === undefined) throw new Error(`Task ${id} is not stored`);
  const [callback] = await deps.callbacks.list({ accountId, taskId: id, limit: 1 });
  const kept = await deps.accounts.callbackSecret(task.keyId);
  const send = { id: callback?.id ?? id, at: deps.clock.now(), kept };
  const { body, headers } = callbackPost(deps, task, send);
  return { taskId: id, callback, headers: { ...CALLBACK_HEADERS, ...headers }, body };
}

function isCalledBack(status: TaskStatus): boolean {
  return status === "completed" || status === "failed";
}

import type { AccountId, KeyId, TaskId } from "../domain/ids.ts";
import type { CallbackFeed, PreviewFeed, TaskFeed, Wakeup } from "../domain/ports/runtime.ts";
import type { Preview } from "../domain/task/preview.ts";

/** A wake-up whose listener, the scheduler, is set once it is there. */
export interface WakeupChannel extends Wakeup {
  listen(listener: Wakeup): void;
}

export function createWakeup(): WakeupChannel {
  let listening: Wakeup = { wake() {}, queued() {} };
  return {
    wake: () => listening.wake(),
    queued: () => listening.queued(),
    listen: (listener) => {
      listening = listener;
    },
  };
}

/** Who waits for which task, or for any of an account's, in this process. */
export function createTaskFeed(): TaskFeed {
  const ofTasks = createListeners<TaskId, [isOver: boolean]>();
  const ofAccounts = createListeners<AccountId, []>();
  return {
    publish({ id, accountId }, isOver) {
      ofTasks.call(id, isOver);
      ofAccounts.call(accountId);
    },
    subscribe: ofTasks.add,
    subscribeAccount: ofAccounts.add,
  };
}

/** Who listens to which key's callbacks, in this process. */
export function createCallbackFeed(): CallbackFeed {
  const listeners = createListeners<KeyId, [task: TaskId]>();
  return { publish: listeners.call, subscribe: listeners.add };
}

/** Who looks at which task's previews, in this process. */
export function createPreviewFeed(): PreviewFeed {
  const listeners = createListeners<TaskId, [preview: Preview]>();
  return { publish: listeners.call, isWatched: listeners.has, subscribe: listeners.add };
}

/** What is told within this process. */
export interface Feeds {
  readonly feed: TaskFeed;
  readonly previews: PreviewFeed;
  readonly redeliveries: CallbackFeed;
}

export function createFeeds(): Feeds {
  return { feed: createTaskFeed(), previews: createPreviewFeed(), redeliveries: createCallbackFeed() };
}

/** Listeners by what they listen to. */
function createListeners<Id, Told extends readonly unknown[]>() {
  const listeners = new Map<Id, Set<(...told: Told) => void>>();
  return {
    call(id: Id, ...told: Told): void {
      for (const listener of [...(listeners.get(id) ?? [])]) listener(...told);
    },
    has: (id: Id) => listeners.has(id),
    add(id: Id, listener: (...told: Told) => void): () => void {
      const waiting = listeners.get(id) ?? new Set();
      listeners.set(id, waiting.add(listener));
      return () => {
        waiting.delete(listener);
        if (waiting.size === 0 && listeners.get(id) === waiting) listeners.delete(id);
      };
    },
  };
}

import type { AccountId, CallbackId, KeyId, TaskId } from "../domain/ids.ts";
import type { CallbackFeed, PreviewFeed, TaskFeed } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { Wakeup } from "../domain/ports/wakeup.ts";
import type { Preview } from "../domain/task/preview.ts";

/** A wake-up that is created before its listener, the scheduler. */
export interface WakeupChannel extends Wakeup {
  listen(listener: Wakeup): void;
}

/** @param tasks where tasks are stored while nobody listens */
export function createWakeup(tasks: Pick<TaskStore, "admit">): WakeupChannel {
  let listening: Wakeup = { wake() {}, queued() {}, admit: tasks.admit };
  return {
    wake: () => listening.wake(),
    queued: () => listening.queued(),
    admit: (admission) => listening.admit(admission),
    listen: (listener) => {
      listening = listener;
    },
  };
}

/** What subscriptions to all tasks listen to. */
const ALL = "all";

/** Subscriptions to tasks, to all tasks of an account, and to all there are, within this process. */
export function createTaskFeed(): TaskFeed {
  const ofTasks = createListeners<TaskId, [isOver: boolean]>();
  const ofAccounts = createListeners<AccountId, []>();
  const ofAll = createListeners<typeof ALL, [id: TaskId, isOver: boolean]>();
  return {
    publish({ id, accountId }, isOver) {
      ofTasks.call(id, isOver);
      ofAccounts.call(accountId);
      ofAll.call(ALL, id, isOver);
    },
    subscribe: ofTasks.add,
    subscribeAccount: ofAccounts.add,
    subscribeAll: (listener) => ofAll.add(ALL, listener),
  };
}

/** Subscriptions to the callbacks of keys, within this process. */
export function createCallbackFeed(): CallbackFeed {
  const listeners = createListeners<KeyId, [callback: CallbackId]>();
  return { publish: listeners.call, subscribe: listeners.add };
}

/** Subscriptions to the previews of tasks, within this process. */
export function createPreviewFeed(): PreviewFeed {
  const listeners = createListeners<TaskId, [preview: Preview]>();
  return { publish: listeners.call, isWatched: listeners.has, subscribe: listeners.add };
}

/** All subscriptions within this process. */
export function createFeeds() {
  return { feed: createTaskFeed(), previews: createPreviewFeed(), redeliveries: createCallbackFeed() };
}
export type Feeds = ReturnType<typeof createFeeds>;

/** Keeps listeners by the id they listen to. */
function createListeners<Id, Told extends readonly unknown[]>() {
  const listeners = new Map<Id, Set<(...told: Told) => void>>();
  return {
    call(id: Id, ...told: Told): void {
      const those = listeners.get(id);
      // Nobody listens to most.
      if (those !== undefined) for (const listener of [...those]) listener(...told);
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

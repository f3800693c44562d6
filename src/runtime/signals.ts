import type { TaskId } from "../domain/ids.ts";
import type { TaskFeed, Wakeup } from "../domain/ports/runtime.ts";

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

/** Who waits for which task, in this process. */
export function createTaskFeed(): TaskFeed {
  const listeners = new Map<TaskId, Set<(isOver: boolean) => void>>();
  return {
    publish(id, isOver) {
      for (const listener of [...(listeners.get(id) ?? [])]) listener(isOver);
    },
    subscribe(id, listener) {
      const waiting = listeners.get(id) ?? new Set();
      listeners.set(id, waiting.add(listener));
      return () => {
        waiting.delete(listener);
        if (waiting.size === 0 && listeners.get(id) === waiting) listeners.delete(id);
      };
    },
  };
}

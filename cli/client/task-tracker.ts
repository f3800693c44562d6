import type { TaskView } from "./answer.ts";
import { hasEnded } from "./wait.ts";

/** Tasks that are watched until all of them have ended. */
export interface Tracker {
  take(views: readonly TaskView[]): void;
  /** Resolves when all have ended. */
  readonly done: Promise<void>;
  isDone(): boolean;
  /** As they were read last, in the order they were named; without those that were not read. */
  views(): TaskView[];
}

export function createTracker(ids: readonly string[]): Tracker {
  const latest = new Map<string, TaskView>();
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const isDone = () =>
    ids.every((id) => {
      const view = latest.get(id);
      return view !== undefined && hasEnded(view);
    });
  return {
    take(views) {
      for (const view of views) {
        const known = latest.get(view.task_id);
        // A reading may be older than an event; an end is final.
        if (known === undefined || !hasEnded(known)) latest.set(view.task_id, view);
      }
      if (isDone()) resolve();
    },
    done,
    isDone,
    views: () => ids.flatMap((id) => latest.get(id) ?? []),
  };
}

import type { Clock, TaskFeed } from "../domain/ports/runtime.ts";
import type { ManagedChange, TaskStore } from "../domain/ports/task-store.ts";
import { openBell } from "./bell.ts";
import { LOOK_AGAIN_MS } from "./task-changes.ts";

export interface WatchAllDeps {
  readonly tasks: Pick<TaskStore, "managedChanges" | "latestManagedChange">;
  readonly feed: Pick<TaskFeed, "subscribeAll">;
  readonly clock: Clock;
}

/** Changes in one page. */
const PAGE = 100;
/** Each page seeks once for every account. So a stream looks for news no more often than this, however fast tasks change. */
const PAUSE_MS = 100;

/**
 * Where a stream of all changes begins.
 * @param seen the number of the last change that the client has. Absent: the stream begins now. A number in the future counts
 * as the latest
 */
export async function startOfAll({ tasks }: Pick<WatchAllDeps, "tasks">, seen = Number.POSITIVE_INFINITY) {
  return Math.min(seen, await tasks.latestManagedChange());
}

/**
 * Yields the tasks of all accounts that changed after a number, in the order of their latest changes, then every further change
 * until `signal` aborts. Pages are never empty. A slow reader misses states in between, but never the last one of a task.
 * @param query.after where to begin, from `startOfAll`
 */
export async function* watchAll(
  { tasks, feed, clock }: WatchAllDeps,
  query: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<readonly ManagedChange[], void, undefined> {
  const { signal } = query;
  const bell = openBell({ clock }, signal);
  // Subscribes before reading, so that no change is missed in between.
  const unsubscribe = feed.subscribeAll(bell.ring);
  try {
    for (let after = query.after; !signal.aborted; ) {
      const changes = await tasks.managedChanges({ after, limit: PAGE });
      if (changes.length > 0) yield changes;
      after = changes.at(-1)?.number ?? after;
      const isLast = changes.length < PAGE;
      if (isLast) await bell.rung(LOOK_AGAIN_MS);
      // Between pages of the past, other readers only need their turn.
      if (!signal.aborted) await pause(clock, isLast ? PAUSE_MS : 0);
    }
  } finally {
    unsubscribe();
    bell.stop();
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

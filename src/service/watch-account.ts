import type { Principal } from "../domain/access/account.ts";
import type { Clock, TaskFeed } from "../domain/ports/runtime.ts";
import { openBell } from "./bell.ts";
import { type ChangePage, type ChangePages, LOOK_AGAIN_MS } from "./task-changes.ts";

export interface WatchAccountDeps {
  readonly pages: ChangePages;
  readonly feed: TaskFeed;
  readonly clock: Clock;
}

/** Changes in one page. */
const PAGE = 100;

/**
 * Yields the tasks of the caller's account that changed after a number, in the order of their latest changes, then every
 * further change until `signal` aborts. Pages are never empty. Each task has its state at the time of reading, so a slow reader
 * misses states in between, but never the last one. All changes that come while a page is being written cost one query.
 * @param query.after where to begin, from `ChangePages.start`
 */
export async function* watchAccount(
  { pages, feed, clock }: WatchAccountDeps,
  { accountId }: Principal,
  query: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<ChangePage, void, undefined> {
  const { signal } = query;
  const bell = openBell({ clock }, signal);
  // Subscribes before reading, so that no change is missed in between.
  const unsubscribe = feed.subscribeAccount(accountId, bell.ring);
  try {
    for (let after = query.after; !signal.aborted; ) {
      const page = await pages.after({ accountId, after, limit: PAGE });
      if (page.changes.length > 0) yield page;
      after = page.seen;
      await (page.isLast ? bell.rung(LOOK_AGAIN_MS) : pages.turn());
    }
  } finally {
    unsubscribe();
    bell.stop();
  }
}

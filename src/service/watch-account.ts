import type { Principal } from "../domain/access/account.ts";
import type { Clock, TaskFeed } from "../domain/ports/runtime.ts";
import { openBell } from "./bell.ts";
import { type ChangePage, type ChangePages, LOOK_AGAIN_MS } from "./task-changes.ts";

export interface WatchAccountDeps {
  readonly pages: ChangePages;
  readonly feed: TaskFeed;
  readonly clock: Clock;
}

/** Changes that are told at once. */
const PAGE = 100;

/**
 * The tasks of the caller's account that changed after a number, in the order of their latest changes, then each that changes,
 * until `signal` aborts; in pages, none of them empty. A task is told as it stands when it is read: a reader who is slow misses
 * states between, and never the last one. However many changes come while a page is being told, they cost one query.
 *
 * @param query.after where to begin, of `ChangePages.start`
 */
export async function* watchAccount(
  { pages, feed, clock }: WatchAccountDeps,
  { accountId }: Principal,
  query: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<ChangePage, void, undefined> {
  const { signal } = query;
  const bell = openBell({ clock }, signal);
  // Before anything is read, so that no change falls between the two.
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

import type { AccountId } from "../domain/ids.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { ChangeQuery, TaskChange, TaskStore } from "../domain/ports/task-store.ts";

/** How soon a change by another process is seen. */
export const LOOK_AGAIN_MS = 15_000;

/** One page of changes, in order. */
export interface ChangePage {
  readonly changes: readonly TaskChange[];
  /** The number after which to continue. */
  readonly seen: number;
  /** Whether there are no more changes so far. */
  readonly isLast: boolean;
}

/** How many pages are kept for other streams at the same position, and for how long: tasks may be deleted since, and files removed. */
const KEPT = 32;
const KEPT_MS = 1_000;

/** Reads changes for all streams of the process. A change wakes all of them, and most of them are at the same position then. */
export function createChangePages(deps: { readonly tasks: TaskStore; readonly clock: Clock }) {
  const { tasks, clock } = deps;
  const pages = new Map<string, { readonly page: Promise<ChangePage>; readonly until: number }>();

  async function read(query: ChangeQuery): Promise<ChangePage> {
    const changes = await tasks.changes(query);
    return { changes, seen: changes.at(-1)?.number ?? query.after, isLast: changes.length < query.limit };
  }

  return {
    /**
     * Resolves when it is the caller's turn. Await it between pages: a reader that takes all pages at once would keep the
     * process busy until it has read everything.
     */
    turn: createTurns(deps),
    /**
     * Where a stream begins.
     * @param seen the number of the last change that the client has. Absent: the stream begins now. A number in the future
     * counts as the latest
     */
    async start(account: AccountId, seen: number = Number.POSITIVE_INFINITY) {
      return Math.min(seen, await tasks.latestChange(account));
    },
    /**
     * The changes after a number, up to a page of them: streams that ask for the same page within a second, before the next change, share
     * one object.
     * @param query.limit bounds what a slow reader holds in memory, and how long others wait for a fast reader
     */
    async after(query: ChangeQuery): Promise<ChangePage> {
      const latest = await tasks.latestChange(query.accountId);
      const name = [query.accountId, query.after, query.limit, latest].join(" ");
      const known = pages.get(name);
      if (known !== undefined && clock.elapsed() < known.until) return known.page;
      pages.delete(name);
      const oldest = pages.size < KEPT ? undefined : pages.keys().next().value;
      if (oldest !== undefined) pages.delete(oldest);
      const page = read(query);
      pages.set(name, { page, until: clock.elapsed() + KEPT_MS });
      page.catch(() => pages.delete(name));
      return page;
    },
  };
}

export type ChangePages = ReturnType<typeof createChangePages>;

/** Gives one reader its turn in each turn of the event loop, in the order of their calls. */
function createTurns({ clock }: { readonly clock: Pick<Clock, "after"> }): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const next = () => {
    waiting.shift()?.();
    if (waiting.length > 0) clock.after(0, next);
  };
  return () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (waiting.push(resolve) === 1) clock.after(0, next);
    return promise;
  };
}

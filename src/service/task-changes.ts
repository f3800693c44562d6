import type { AccountId } from "../domain/ids.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { ChangeQuery, TaskChange, TaskStore } from "../domain/ports/task-store.ts";

/** How soon a change is seen that nobody told of. */
export const LOOK_AGAIN_MS = 15_000;

/** Some changes in their order. */
export interface ChangePage {
  readonly changes: readonly TaskChange[];
  /** After which number to go on. */
  readonly seen: number;
  /** Whether these were all there are so far. */
  readonly isLast: boolean;
}

/** Changes as streams read them. */
export interface ChangePages {
  /**
   * Where a stream begins.
   *
   * @param seen the number of the last change that was told; absent: from now on. One that is yet to come counts as the latest
   */
  start(account: AccountId, seen: number | undefined): Promise<number>;
  /**
   * The changes after a number, up to a page of them: one object for all that ask the same before the next change.
   *
   * @param query.limit of a page: what a slow reader holds, and how long everybody else waits for a fast one
   */
  after(query: ChangeQuery): Promise<ChangePage>;
  /**
   * Resolves when it is the caller's turn. To be awaited where there is more than a page to tell: readers who took everything at
   * once would keep the process to themselves for as long as there is something to read.
   */
  turn(): Promise<void>;
}

/** Pages kept for others who stand at the same place. */
const KEPT = 32;

/** Reads changes for all streams of the process. A change wakes each of them, and most stand at the same place then. */
export function createChangePages(deps: { readonly tasks: TaskStore; readonly clock: Clock }): ChangePages {
  const { tasks } = deps;
  const pages = new Map<string, Promise<ChangePage>>();

  async function read(query: ChangeQuery): Promise<ChangePage> {
    const changes = await tasks.changes(query);
    return { changes, seen: changes.at(-1)?.number ?? query.after, isLast: changes.length < query.limit };
  }

  return {
    turn: createTurns(deps),
    async start(account, seen = Number.POSITIVE_INFINITY) {
      return Math.min(seen, await tasks.latestChange(account));
    },
    async after(query) {
      const latest = await tasks.latestChange(query.accountId);
      const name = [query.accountId, query.after, query.limit, latest].join(" ");
      const known = pages.get(name);
      if (known !== undefined) return known;
      const oldest = pages.size < KEPT ? undefined : pages.keys().next().value;
      if (oldest !== undefined) pages.delete(oldest);
      const page = read(query);
      pages.set(name, page);
      page.catch(() => pages.delete(name));
      return page;
    },
  };
}

/** Readers who take turns: one of them in each turn of the event loop, in the order they asked. */
function createTurns({ clock }: { readonly clock: Clock }): () => Promise<void> {
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

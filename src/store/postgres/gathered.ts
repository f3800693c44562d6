import type { AccountId } from "../../domain/ids.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import type { Connection } from "./connection.ts";
import type { Session } from "./session.ts";
import type { WriteOptions } from "./writer.ts";

/** Most items that one operation takes. */
const MOST_TOGETHER = 64;

export interface GatheredWork<Item, Prepared, Result> extends WriteOptions {
  /** Prepares an item before the transaction begins; called again if it failed. */
  readonly prepare: (item: Item) => Promise<Prepared>;
  /** Writes items in their order. @returns a result for each */
  readonly run: (session: Session, of: AccountId, items: readonly Prepared[]) => Promise<Result[]>;
}

interface Waiting<Prepared, Result> {
  readonly prepared: () => Promise<Prepared>;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a function that gathers the items waiting to be written for one account, so that few statements write all of them.
 * They are written in the order of the calls. If that throws, each item is written alone.
 */
export function prepareGathered<Item, Prepared, Result>(
  { writeFor }: Pick<Connection, "writeFor">,
  { prepare, run, ...options }: GatheredWork<Item, Prepared, Result>,
): (of: AccountId, item: Item) => Promise<Result> {
  const open = new Map<AccountId, Waiting<Prepared, Result>[]>();

  async function write(of: AccountId, waiting: readonly Waiting<Prepared, Result>[]): Promise<void> {
    try {
      const results = await writeFor(
        of,
        async (session) => {
          // Another operation writes the items that arrive from now on. This one may run again, with the same items.
          if (open.get(of) === waiting) open.delete(of);
          return run(session, of, await Promise.all(waiting.map(({ prepared }) => prepared())));
        },
        options,
      );
      // Safe: every item has a result.
      for (const [i, { resolve }] of waiting.entries()) resolve(results[i] as Result);
    } catch (error) {
      if (open.get(of) === waiting) open.delete(of);
      if (waiting.length === 1 || error instanceof StorageError)
        for (const { reject } of waiting) reject(error);
      else for (const each of waiting) void write(of, [each]);
    }
  }

  return (of, item) =>
    new Promise((resolve, reject) => {
      const waiting = { prepared: again(() => prepare(item)), resolve, reject };
      const gathering = open.get(of);
      if (gathering !== undefined && gathering.length < MOST_TOGETHER) return void gathering.push(waiting);
      const begun = [waiting];
      open.set(of, begun);
      void write(of, begun);
    });
}

/** Begins at once, and returns a function for the result, which tries again if it failed. */
function again<T>(run: () => Promise<T>): () => Promise<T> {
  const begin = () => {
    const begun = run();
    begun.catch(() => {
      running = undefined;
    });
    return begun;
  };
  let running: Promise<T> | undefined;
  running = begin();
  return () => {
    running ??= begin();
    return running;
  };
}

import type { AccountId } from "../../domain/ids.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import type { Connection } from "./connection.ts";
import type { Session } from "./session.ts";
import type { WriteOptions } from "./writer.ts";

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Items that one operation takes. */
const MOST_TOGETHER = 64;

/**
 * Returns a function that gathers what waits to be written for one account, so that one run of few statements writes all of it. If a
 * run throws, each item is written alone.
 *
 * @param run writes items in their order. @returns a result for each
 */
export function prepareGathered<Item, Result>(
  { writeFor }: Pick<Connection, "writeFor">,
  run: (session: Session, of: AccountId, items: readonly Item[]) => Promise<Result[]>,
  options: WriteOptions = {},
): (of: AccountId, item: Item) => Promise<Result> {
  const open = new Map<AccountId, Waiting<Item, Result>[]>();

  async function writeAlone(of: AccountId, { item, resolve, reject }: Waiting<Item, Result>) {
    try {
      resolve(
        (await writeFor(of, async (session) => (await run(session, of, [item]))[0], options)) as Result,
      );
    } catch (error) {
      reject(error);
    }
  }

  async function write(of: AccountId, waiting: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await writeFor(
        of,
        (session) => {
          // What comes from now on is written by another operation. This one may run again: with the same items.
          if (open.get(of) === waiting) open.delete(of);
          return run(
            session,
            of,
            waiting.map(({ item }) => item),
          );
        },
        options,
      );
      for (const [i, { resolve }] of waiting.entries()) resolve(results[i] as Result);
    } catch (error) {
      if (open.get(of) === waiting) open.delete(of);
      if (waiting.length > 1 && !(error instanceof StorageError))
        await Promise.all(waiting.map((each) => writeAlone(of, each)));
      else for (const { reject } of waiting) reject(error);
    }
  }

  return (of, item) =>
    new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject };
      const gathering = open.get(of);
      if (gathering !== undefined && gathering.length < MOST_TOGETHER) return void gathering.push(waiting);
      const begun = [waiting];
      open.set(of, begun);
      void write(of, begun);
    });
}

import type { Driver } from "./driver.ts";
import { tryLock } from "./locks.ts";
import { statement } from "./session.ts";

/** Tables of fewer blocks are read in no time, however they are read. */
const SMALL_BLOCKS = 16;
/** Names with commas between them; null for none. It always has a row. */
const GROWN = statement<{ names: string | null }>(
  `select string_agg(quote_ident(relname), ', ') as names from pg_class
   where relkind = 'r' and relnamespace = current_schema()::regnamespace
     and pg_relation_size(oid) / current_setting('block_size')::bigint >= greatest(2 * relpages, ${SMALL_BLOCKS})`,
);

/**
 * Has the server look anew at tables that have at least doubled since it did last. Connections keep the plans of their statements until
 * it has: those that were made while a table was empty read all of it when it is large. The server's autovacuum looks by itself, but once a
 * minute, and a new service can take a hundred thousand tasks in that.
 */
export async function keepStatistics(driver: Driver): Promise<void> {
  if ((await GROWN.get(driver))?.names == null) return;
  const transaction = await driver.begin({ isLong: true });
  try {
    // One node does it. What another one has just done has not grown any more.
    const grown = (await tryLock(transaction, "statistics")) ? await GROWN.get(transaction) : undefined;
    // Not where the server itself is about to: it would give way.
    if (grown?.names != null) await transaction.ask(`analyze (skip_locked) ${grown.names}`, []);
    await transaction.commit();
  } catch (error) {
    await transaction.rollback().catch(() => {});
    throw error;
  }
}

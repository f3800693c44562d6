import type { Driver } from "./driver.ts";
import { tryLock } from "./locks.ts";
import { statement } from "./session.ts";

/** Smaller tables are read in no time, whatever the plan. */
const SMALL_BLOCKS = 16;
/** Names with commas between them; null for none. It always has a row. */
const GROWN = statement<{ names: string | null }>(
  `select string_agg(quote_ident(relname), ', ') as names from pg_class
   where relkind = 'r' and relnamespace = current_schema()::regnamespace
     and pg_relation_size(oid) / current_setting('block_size')::bigint >= greatest(2 * relpages, ${SMALL_BLOCKS})`,
);

/**
 * Makes the server analyze tables that have at least doubled since the last analysis. Until then, connections keep the plans of
 * their statements, and plans that were made for an empty table read all of it when it is large. The server's autovacuum
 * analyzes by itself, but only once a minute, and a new service can take a hundred thousand tasks in that time.
 */
export async function keepStatistics(driver: Driver): Promise<void> {
  if ((await GROWN.get(driver))?.names == null) return;
  const transaction = await driver.begin({ isLong: true });
  try {
    // Only one node does it. A table that another node has just analyzed has not grown since.
    const grown = (await tryLock(transaction, "statistics")) ? await GROWN.get(transaction) : undefined;
    // Skips a table that the server itself is about to analyze, because the server would give way.
    if (grown?.names != null) await transaction.ask(`analyze (skip_locked) ${grown.names}`, []);
    await transaction.commit();
  } catch (error) {
    await transaction.rollback().catch(() => {});
    throw error;
  }
}

import type { Pool } from "./client.ts";

/** Connections that can all be replaced at once. */
export interface DisposablePool extends Pool {
  /** Everything that waits on a connection fails as if the connection was lost, and later statements get new ones. */
  throwAway(): void;
  close(): Promise<void>;
}

/** A limit is a number of checks. A process that was suspended checks once afterwards, not once for each missed interval. */
const LOOKS = 5;

/**
 * Closes all connections of a pool when a statement has no answer for the deadline. If packets get lost for ever, as behind a
 * firewall that has forgotten a connection, nothing else would end the wait. The outcome of open commits is then looked up, as
 * after any lost answer.
 *
 * @param deadlineMs undefined for statements without a limit
 */
export function limited(pool: DisposablePool, deadlineMs: number | undefined): DisposablePool {
  if (deadlineMs === undefined) return pool;
  const waiting = new Set<{ readonly since: number }>();
  let looks = 0;
  const look = setInterval(() => {
    looks++;
    // The first has waited longest.
    const [oldest] = waiting;
    if (oldest === undefined || looks - oldest.since <= LOOKS) return;
    waiting.clear();
    pool.throwAway();
  }, deadlineMs / LOOKS);
  look.unref();

  async function within<T>(run: () => Promise<T>): Promise<T> {
    const asked = { since: looks };
    waiting.add(asked);
    try {
      return await run();
    } finally {
      waiting.delete(asked);
    }
  }

  return {
    ask: (text, parameters) => within(() => pool.ask(text, parameters)),
    async begin(options) {
      const transaction = await pool.begin();
      if (options?.isLong === true) return transaction;
      return {
        ask: (text, parameters) => within(() => transaction.ask(text, parameters)),
        commit: () => within(transaction.commit),
        rollback: () => within(transaction.rollback),
      };
    },
    throwAway: pool.throwAway,
    close() {
      clearInterval(look);
      return pool.close();
    },
  };
}

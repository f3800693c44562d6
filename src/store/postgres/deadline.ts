import type { Pool } from "./client.ts";

/** Connections of which none is used any more once they are thrown away. */
export interface DisposablePool extends Pool {
  /** Whatever waits on a connection fails as if that was lost, and what comes has a new one. */
  throwAway(): void;
  close(): Promise<void>;
}

/** A limit is so many looks. A process that stood still looks once, and not as often as it would have. */
const LOOKS = 5;

/**
 * Throws all connections of a pool away when a statement has no answer for so long. Where packets get lost for ever, as behind a firewall
 * that has forgotten a connection, nothing else would end the wait. What was committed meanwhile is asked about as after any lost answer.
 *
 * @param deadlineMs undefined for what waits as long as it takes
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

import { StorageError } from "../../domain/ports/task-store.ts";
import type { Driver } from "./driver.ts";
import { asStorageError, sqlState } from "./errors.ts";
import { statement } from "./session.ts";

/** A transaction of a server, so that its end can be asked about when the answer was lost. */
export interface TransactionName {
  readonly xid: string;
  /** Changes each time that a standby takes over. */
  readonly timeline: string;
}

/**
 * Nobody knows whether a transaction was committed: its server is gone, and its successor uses the same numbers again. A write
 * that must not happen twice must not be repeated.
 */
export class OutcomeUnknown extends StorageError {}

/** As SQL. It fails on a standby. */
export const TIMELINE = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";

const STATUS = statement<{ status: string | null; timeline: string }, [xid: string]>(
  `select ${TIMELINE} as timeline, pg_xact_status($1::text::xid8) as status`,
);
/** Writes something that is in no table. */
const WRITE = statement("select pg_logical_emit_message(true, 'svc', ''::text) is null as written");
/** The error code for a number that the server has not given yet. */
const IN_THE_FUTURE = "22023";

/**
 * Finds out the outcome of a transaction whose commit got no answer.
 *
 * @param wait called with the reason where the server could not be asked
 * @returns whether it was committed; if so, it is as safe as any answered commit
 * @throws OutcomeUnknown; StorageError when the wait is over
 */
export async function isCommitted(
  driver: Pick<Driver, "ask" | "begin">,
  { xid, timeline }: TransactionName,
  wait: (tries: number, reason?: StorageError) => Promise<void>,
): Promise<boolean> {
  for (let tries = 0; ; tries++) {
    let reason: StorageError | undefined;
    try {
      const found = await STATUS.get(driver, xid);
      const isOfOther = found?.timeline !== timeline;
      if (isOfOther && found?.status === "committed")
        throw new OutcomeUnknown("away", "The database server that had the answer is gone.");
      // This is another transaction with the same number on the server that took over, so ours never arrived there.
      if (isOfOther || found?.status !== "in progress")
        return found?.status === "committed" && (await isSafe(driver));
    } catch (error) {
      if (error instanceof OutcomeUnknown) throw error;
      // The server does not know the transaction, for example because it took over without having received it.
      if (sqlState(error) === IN_THE_FUTURE) return false;
      // A standby, for example, does not answer it.
      reason = asStorageError(error);
    }
    await wait(tries, reason);
  }
}

/**
 * Waits until all earlier commits are as safe as the server is configured to make them. A commit whose answer was lost may have
 * ended before a synchronous standby had it, and would be lost if that took over now.
 *
 * @throws StorageError
 */
async function isSafe(driver: Pick<Driver, "begin">): Promise<true> {
  const transaction = await driver.begin();
  try {
    await WRITE.run(transaction);
  } catch (error) {
    await transaction.rollback().catch(() => {});
    throw error;
  }
  await transaction.commit();
  return true;
}

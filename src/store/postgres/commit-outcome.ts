import { StorageError } from "../../domain/ports/task-store.ts";
import type { Driver } from "./driver.ts";
import { asStorageError, sqlState } from "./errors.ts";
import { statement } from "./session.ts";

/** A transaction of a server, so that its end can be asked about when the answer was lost. */
export interface TransactionName {
  readonly xid: string;
  /** Another one after each time that a standby took over. */
  readonly timeline: string;
}

/**
 * Nobody knows whether a transaction was committed: its server is gone, and the one that took over uses the same numbers again. What
 * must not happen twice may not be tried again.
 */
export class OutcomeUnknown extends StorageError {}

/** As SQL. It fails on a standby. */
export const TIMELINE = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";

const STATUS = statement<{ status: string | null; timeline: string }, [xid: string]>(
  `select ${TIMELINE} as timeline, pg_xact_status($1::text::xid8) as status`,
);
/** Writes something that no table has. */
const WRITE = statement("select pg_logical_emit_message(true, 'svc', ''::text) is null as written");
/** The code of what a standby cannot answer. */
const IN_RECOVERY = "55000";

/**
 * What became of a transaction whose commit was not answered.
 *
 * @returns whether it was committed, and is as safe as any commit that was answered
 * @throws OutcomeUnknown; StorageError once it may not wait any more
 */
export async function isCommitted(
  driver: Pick<Driver, "ask" | "begin">,
  { xid, timeline }: TransactionName,
  wait: (tries: number) => Promise<void>,
): Promise<boolean> {
  for (let tries = 0; ; tries++) {
    try {
      const found = await STATUS.get(driver, xid);
      const isOfOther = found?.timeline !== timeline;
      if (isOfOther && found?.status === "committed")
        throw new OutcomeUnknown("away", "The database server that had the answer is gone.");
      // Another transaction, which has the same number on the server that took over: ours did not get there.
      if (isOfOther || found?.status !== "in progress")
        return found?.status === "committed" && (await isSafe(driver));
    } catch (error) {
      if (error instanceof OutcomeUnknown) throw error;
      // A server that knows nothing of the transaction, as one that took over has not got it.
      if (asStorageError(error) === undefined && sqlState(error) !== IN_RECOVERY) return false;
    }
    await wait(tries);
  }
}

/**
 * Waits until all earlier commits are where the server wants them. A commit whose answer was lost may have ended before a synchronous
 * standby had it, and would be lost if that took over now.
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

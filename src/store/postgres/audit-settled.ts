import type { Settled } from "../sqlite/audit/reader.ts";
import { type Session, statement } from "./session.ts";

export interface SettledNumbers extends Settled {
  /** The number of a transaction: all that wrote a row of these numbers have lower ones. */
  readonly xid: string;
  /** The numbers of other databases' transactions that were open then, with commas between: these write nothing here. */
  readonly elsewhere: string;
}

interface Marked extends SettledNumbers {
  /** The numbers of this database's transactions that had one then and had not ended, with commas between. */
  readonly open: string;
}

/** Each transaction holds such a lock on its own number from when it gets one until it ends. */
const NUMBERED = "locktype = 'transactionid' and mode = 'ExclusiveLock' and granted";
const IS_HERE = "(pid is null or datname = current_database())";
const numbersOf = (where: string) =>
  `(select coalesce(string_agg(transactionid::text, ','), '') from pg_locks left join pg_stat_activity using (pid)
     where ${NUMBERED} and ${where})`;
/** Fails where nothing can be written. A prepared transaction belongs to no process, and may be of any database. */
const MARK = statement<Marked>(
  `select (select coalesce(max(number), 0) from task) as task, (select coalesce(max(id), 0) from ledger_entry) as ledger_entry,
     (select coalesce(max(number), 0) from label) as label, pg_current_xact_id()::text as xid,
     ${numbersOf(`pid is distinct from pg_backend_pid() and ${IS_HERE}`)} as open, ${numbersOf(`not ${IS_HERE}`)} as elsewhere
   where pg_current_xact_id() is not null`,
);
const LEFT = statement<{ left: number }, [open: string]>(
  `select count(*)::int as left from pg_locks
     where ${NUMBERED} and transactionid::text = any (string_to_array($1, ','))`,
);

/** A transaction takes milliseconds. */
const PAUSE_MS = 20;
const PATIENCE_MS = 2_000;

/**
 * Rows get their numbers before they are committed, so one may come that has a lower number than another that is there already. Waits until
 * every transaction of this database that had a number when this was called has ended; every writer has one before it draws numbers of rows.
 *
 * @returns undefined where one takes longer, and where nothing can be written anyway
 */
export async function settledNumbers(session: Session): Promise<SettledNumbers | undefined> {
  const marked = await MARK.get(session).catch(() => undefined);
  if (marked === undefined) return undefined;
  const { open, ...settled } = marked;
  for (let waitedMs = 0; waitedMs <= PATIENCE_MS; waitedMs += PAUSE_MS) {
    // First: a statement that is a transaction by itself, as labels are stored by, may draw a number before it has its own.
    await Bun.sleep(PAUSE_MS);
    if ((await LEFT.get(session, open))?.left === 0) return settled;
  }
  return undefined;
}

import type { Settled } from "../sqlite/audit/reader.ts";
import { type Session, statement } from "./session.ts";

interface Marked extends Settled {
  /** The number of a transaction that began after these rows were there. */
  readonly xid: string;
}

const MARK = statement<Marked>(
  `select (select coalesce(max(number), 0) from task) as task, (select coalesce(max(id), 0) from ledger_entry) as ledger_entry,
     (select coalesce(max(number), 0) from label) as label, pg_current_xact_id()::text as xid`,
);
const OLDEST = statement<{ oldest: string }>(
  "select pg_snapshot_xmin(pg_current_snapshot())::text as oldest",
);

/** A transaction takes milliseconds. */
const PAUSE_MS = 20;
const PATIENCE_MS = 2_000;

/**
 * Rows get their numbers before they are committed, so one may come that has a lower number than another that is there already. Waits until
 * every transaction that had a number when this was called has ended; every writer has one before it draws numbers of rows.
 *
 * @returns undefined where one takes longer, and where nothing can be written anyway
 */
export async function settledNumbers(session: Session): Promise<Settled | undefined> {
  const marked = await MARK.get(session).catch(() => undefined);
  if (marked === undefined) return undefined;
  const { xid, ...settled } = marked;
  for (let waitedMs = 0; waitedMs <= PATIENCE_MS; waitedMs += PAUSE_MS) {
    // First: a statement that is a transaction by itself, as labels are stored by, may draw a number before it has its own.
    await Bun.sleep(PAUSE_MS);
    const { oldest } = (await OLDEST.get(session)) ?? { oldest: "0" };
    if (BigInt(oldest) > BigInt(xid)) return settled;
  }
  return undefined;
}

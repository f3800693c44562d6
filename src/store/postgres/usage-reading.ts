import { PAGE } from "../sqlite/audit/seal-table.ts";
import { readsTasks } from "../sqlite/usage-report.ts";
import type { ReadUsage } from "../usage-reading.ts";
import { type SettledNumbers, settledNumbers } from "./audit-settled.ts";
import { TIMELINE } from "./commit-outcome.ts";
import type { Connection } from "./connection.ts";
import type { Readers } from "./replica.ts";
import { type Session, statement } from "./session.ts";
import { type Keeping, usageReport } from "./usage-report.ts";

/**
 * Which database this is, of which server and after which start of it: what was read of it may be gone in one that takes its place, as a
 * standby that lacked the last moments, a copy of earlier, or the same after a crash that lost commits nobody waited for.
 */
const STANDING = statement<{ history: string; last: number }>(
  `select concat_ws(' ', ${TIMELINE}, (select system_identifier from pg_control_system()), pg_postmaster_start_time(),
       (select oid from pg_database where datname = current_database())) as history,
     coalesce((select max(number) from task), 0) as last`,
);

/** @param readers read the report itself, which may be some seconds old */
export function createUsageReading(primary: Pick<Connection, "read">, readers: Readers): ReadUsage {
  let settled: (SettledNumbers & Pick<Keeping, "history">) | undefined;

  /** Waits for the transactions of other writers where pages have become full since the last time. */
  async function lookAt(session: Session): Promise<Pick<Keeping, "history" | "settled">> {
    const { history = "", last = 0 } = (await STANDING.get(session)) ?? {};
    if (settled?.history !== history) settled = undefined;
    if (fullPages(last) > fullPages(settled?.task ?? 0)) {
      const numbers = await settledNumbers(session);
      if (numbers !== undefined) settled = { ...numbers, history };
    }
    return { history, settled };
  }

  return async (query, kept = new Map(), room = Number.POSITIVE_INFINITY) => {
    // Where the primary cannot be asked, a replica still reads everything.
    const standing = readsTasks(query) ? await primary.read(lookAt).catch(() => undefined) : undefined;
    const keeping = standing && { ...standing, kept, room };
    return readers.readAtOnce((session) => usageReport(session, query, keeping));
  };
}

const fullPages = (last: number): number => Math.floor(last / PAGE);

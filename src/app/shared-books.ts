import type { AuditDepth, AuditReport } from "../domain/ports/audit.ts";
import type { SealStore } from "../domain/ports/seal-store.ts";
import { RECLAIM_DAYS } from "../domain/reclaimable.ts";
import type { Connection } from "../store/postgres/connection.ts";
import type { Readers } from "../store/postgres/replica.ts";
import type { BookReadings } from "./book-readings.ts";
import { createUsageReports } from "./usage-reports.ts";

/** Reports at a time: each takes a connection for as long as it reads. */
const REPORTS = 2;

const NOTHING = RECLAIM_DAYS.map(() => 0);

/**
 * Reads the books of a database that nodes share. The server of the database does the work, so no thread is needed here.
 *
 * @param readers sum up what was used, which may be some seconds old @param keepSeals stores what an audit has found right; it does not fail
 */
export async function createSharedBooks(
  connection: Connection,
  readers: Readers,
  keepSeals: SealStore["keep"],
): Promise<BookReadings> {
  const { createAudit } = await import("../store/postgres/audit.ts");
  const { checkDatabase, readStock } = await import("../store/postgres/stock.ts");
  const { readsTasks } = await import("../store/sqlite/usage-report.ts");
  const { createUsageReading } = await import("../store/postgres/usage-reading.ts");
  const { sizeOfOwnFiles } = await import("./reclaimable.ts");
  const audit = createAudit(connection);
  const usage = createUsageReading(connection, readers);
  const ofTasks = createUsageReports(REPORTS, {
    read: (query, { pages }) => usage.report(query, pages()),
    readOn: ({ pages, room }) => usage.pages(pages, room),
  });
  const audits = new Map<AuditDepth, Promise<AuditReport>>();

  async function examine(depth: AuditDepth): Promise<AuditReport> {
    const { report, seals } = await audit.examine(depth);
    await keepSeals(seals);
    return report;
  }

  return {
    // The first audit of many tasks takes minutes. Who asks again meanwhile gets its answer, and begins no other one.
    run: (depth = "checksums") =>
      audits.getOrInsertComputed(depth, () => examine(depth).finally(() => audits.delete(depth))),
    // Sums of days are read in no time, and wait for nobody.
    report: async (query) => (readsTasks(query) ? ofTasks(query) : (await usage.report(query)).lines),
    stock: () => readStock(connection),
    check: () => checkDatabase(connection),
    // Counts only what this node keeps on its own disk, because results and inputs may be on any disk.
    reclaimable: async (order) => ({
      ...{ outputs: NOTHING, inputs: NOTHING, callbacks: NOTHING, unneeded: 0, wal: 0, freePages: 0 },
      ...(await sizeOfOwnFiles(order)),
      isWhole: true,
    }),
    stop() {},
  };
}

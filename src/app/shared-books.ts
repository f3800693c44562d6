import type { SealStore } from "../domain/ports/seal-store.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";
import { RECLAIM_DAYS } from "../domain/reclaimable.ts";
import type { Connection } from "../store/postgres/connection.ts";
import type { BookReadings } from "./book-readings.ts";

const NOTHING = RECLAIM_DAYS.map(() => 0);

/**
 * Reads the books of a database that nodes share. The server of the database does the work, so no thread is needed here.
 *
 * @param usage sums up what was used @param keepSeals stores what an audit has found right; it does not fail
 */
export async function createSharedBooks(
  connection: Connection,
  usage: Pick<UsageStore, "report">,
  keepSeals: SealStore["keep"],
): Promise<BookReadings> {
  const { createAudit } = await import("../store/postgres/audit.ts");
  const { checkDatabase, readStock } = await import("../store/postgres/stock.ts");
  const { sizeOfOwnFiles } = await import("./reclaimable.ts");
  const audit = createAudit(connection);
  return {
    async run(depth) {
      const { report, seals } = await audit.examine(depth);
      await keepSeals(seals);
      return report;
    },
    report: usage.report,
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

import type { UsageStore } from "../domain/ports/usage-store.ts";
import { openForReading } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { requireMigrated } from "./sqlite/migrate.ts";
import { prepareUsageReport } from "./sqlite/usage-report.ts";

export interface UsageReading extends Pick<UsageStore, "report"> {
  stop(): void;
}

/**
 * Opens a database to sum up usage. A server may use it meanwhile and is not delayed.
 *
 * @throws SchemaError for a database with other tables than this program needs; StorageError when it cannot be read
 */
export function openUsageReading(options: { path: string }): UsageReading {
  const db = openForReading(options.path);
  try {
    const report = translating(() => {
      requireMigrated(db);
      return prepareUsageReport(db);
    });
    // All statements are in one transaction, so each reads the state that the first one saw.
    const inOneState = db.transaction(report);
    return { report: async (query) => translating(() => inOneState(query)), stop: () => db.stop() };
  } catch (error) {
    db.stop();
    throw error;
  }
}

import type { Audit } from "../domain/ports/audit.ts";
import { prepareAudit } from "./sqlite/audit.ts";
import { openForReading } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { requireMigrated } from "./sqlite/migrate.ts";

/**
 * Opens a database to check its books. A server may use it meanwhile and is not delayed.
 *
 * @throws SchemaError if the database's tables are not those that this program needs; StorageError when it cannot be read
 */
export function openAudit(options: { path: string }): Audit {
  const db = openForReading(options.path);
  try {
    const audit = translating(() => {
      requireMigrated(db);
      return prepareAudit(db);
    });
    return { run: async () => translating(audit), stop: () => db.stop() };
  } catch (error) {
    db.stop();
    throw error;
  }
}

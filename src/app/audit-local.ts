import type { AuditReport } from "../domain/ports/audit.ts";
import { openAudit } from "../store/audit.ts";
import { existingDatabaseOf, type Folder } from "./data-folder.ts";

/**
 * Checks the books of a data folder. Does not hold up a server that runs on it.
 *
 * @throws Error when it has no database; SchemaError when the database is of another version
 */
export async function auditLocal(config: Folder): Promise<AuditReport> {
  const audit = openAudit({ path: existingDatabaseOf(config) });
  try {
    return await audit.run();
  } finally {
    audit.stop();
  }
}

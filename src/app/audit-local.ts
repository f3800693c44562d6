import type { Audit, AuditReport } from "../domain/ports/audit.ts";
import { openAudit } from "../store/audit.ts";
import { existingDatabaseOf } from "./data-folder.ts";
import type { Stored } from "./local-store.ts";

/**
 * Checks the books of a data folder. Does not hold up a server that runs on it.
 *
 * @throws Error when it has no database; SchemaError when the database is of another version
 */
export async function auditLocal(config: Stored): Promise<AuditReport> {
  const audit = await openAuditOf(config);
  try {
    return await audit.run();
  } finally {
    audit.stop();
  }
}

async function openAuditOf(config: Stored): Promise<Audit> {
  if (config.database === undefined) return openAudit({ path: existingDatabaseOf(config) });
  const shared = await import("../store/postgres/audit.ts");
  return shared.openAudit({ url: config.database.reveal() });
}

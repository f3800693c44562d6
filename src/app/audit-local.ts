import type { Audit, AuditReport } from "../domain/ports/audit.ts";
import { openAudit } from "../store/audit.ts";
import { untilLogIsShort } from "../store/checkpoint.ts";
import { giveWay } from "../toolkit/low-priority.ts";
import { existingDatabaseOf } from "./data-folder.ts";
import type { Stored } from "./local-store.ts";

/** A server's requests come first, as they do before an audit in its own threads. */
const NICENESS = 10;

/**
 * Checks the books of a data folder. Does not hold up a server that runs on it. This thread gives way to others from then on.
 *
 * @throws Error when it has no database; SchemaError when the database is of another version
 */
export async function auditLocal(config: Stored): Promise<AuditReport> {
  giveWay(NICENESS);
  const audit = await openAuditOf(config);
  try {
    return await audit.run();
  } finally {
    audit.stop();
  }
}

async function openAuditOf(config: Stored): Promise<Audit> {
  if (config.database === undefined) {
    const path = existingDatabaseOf(config);
    await untilLogIsShort({ path });
    return openAudit({ path });
  }
  const shared = await import("../store/postgres/audit.ts");
  return shared.openAudit({ url: config.database.reveal() });
}

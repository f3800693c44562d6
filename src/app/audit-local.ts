import type { Audit, AuditDepth, AuditReport } from "../domain/ports/audit.ts";
import type { SealStore } from "../domain/ports/seal-store.ts";
import { openAudit } from "../store/audit.ts";
import { reasonOf } from "../toolkit/system-error.ts";
import { existingDatabaseOf } from "./data-folder.ts";
import type { Stored } from "./local-store.ts";

export interface LocalAudit {
  readonly report: AuditReport;
  /** Why what was verified could not be sealed. */
  readonly unsealed?: string | undefined;
}

/**
 * Checks the books of a data folder, and seals what is right. Does not hold up a server that runs on it.
 *
 * @throws Error when it has no database; SchemaError when the database is of another version
 */
export async function auditLocal(config: Stored, depth: AuditDepth): Promise<LocalAudit> {
  const audit = await openAuditOf(config);
  try {
    const { report, seals } = await audit.examine(depth);
    return { report, unsealed: await tryKeep(audit, seals) };
  } finally {
    audit.stop();
  }
}

/** @returns why they could not be stored: the database may be for reading only */
async function tryKeep(
  { keep }: SealStore,
  seals: Parameters<SealStore["keep"]>[0],
): Promise<string | undefined> {
  try {
    await keep(seals);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

async function openAuditOf(config: Stored): Promise<Audit & SealStore> {
  if (config.database === undefined) {
    return openAudit({ path: existingDatabaseOf(config) });
  }
  const shared = await import("../store/postgres/audit.ts");
  return shared.openAudit({ url: config.database.reveal() });
}

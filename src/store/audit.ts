import type { Audit } from "../domain/ports/audit.ts";
import type { SealStore } from "../domain/ports/seal-store.ts";
import { createLogWait, hasLog } from "./checkpoint.ts";
import { prepareAudit } from "./sqlite/audit.ts";
import { openDatabase, openForReading } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { requireMigrated } from "./sqlite/migrate.ts";
import { prepareKeep } from "./sqlite/seal-store.ts";

/**
 * Opens a database to check its books. A server may use it meanwhile and is not delayed; where its log has become long, the audit waits
 * between pages until it was copied. `keep` alone writes: it opens the database once
 * more, and a server waits for it as for any command.
 *
 * @throws SchemaError if the database's tables are not those that this program needs; StorageError when it cannot be read
 */
export function openAudit({ path }: { path: string }): Audit & SealStore {
  const db = openForReading(path);
  try {
    const audit = translating(() => {
      requireMigrated(db);
      return prepareAudit(db, hasLog(db) ? createLogWait(db) : undefined);
    });
    return {
      ...audit,
      keep: async (seals) => translating(() => keepIn(path, seals)),
      stop: () => db.stop(),
    };
  } catch (error) {
    db.stop();
    throw error;
  }
}

function keepIn(path: string, seals: Parameters<SealStore["keep"]>[0]): void {
  if (seals.length === 0) return;
  const db = openDatabase(path);
  try {
    // A server waits until this is written: a seal that a power failure undoes is made again, and the server copies the log itself.
    db.run("pragma synchronous = normal");
    db.run("pragma wal_autocheckpoint = 0");
    const keep = prepareKeep(db);
    db.transaction(() => keep(seals)).immediate();
  } finally {
    db.stop();
  }
}

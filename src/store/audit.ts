import type { Audit } from "../domain/ports/audit.ts";
import { prepareAudit } from "./sqlite/audit.ts";
import { openForReading } from "./sqlite/connection.ts";
import { asStorageError } from "./sqlite/errors.ts";
import { readMigrationState, SchemaError } from "./sqlite/migrate.ts";

/**
 * Opens a database to check its books. A server may use it meanwhile and is not delayed.
 *
 * @throws SchemaError for a database with other tables than this program needs; StorageError when it cannot be read
 */
export function openAudit(options: { path: string }): Audit {
  const db = openForReading(options.path);
  const stop = () => {
    db.finalizeAll();
    db.close();
  };
  try {
    const { pending } = readMigrationState(db);
    if (pending.length > 0)
      throw new SchemaError("pending", `The database lacks migrations: ${pending.join(", ")}.`);
    const audit = prepareAudit(db);
    return {
      async run() {
        try {
          return audit();
        } catch (error) {
          throw asStorageError(error) ?? error;
        }
      },
      stop,
    };
  } catch (error) {
    stop();
    throw asStorageError(error) ?? error;
  }
}

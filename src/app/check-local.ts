import { statSync } from "node:fs";
import type { DatabaseCheck } from "../domain/ports/database-check.ts";
import { checkDatabase } from "../store/check.ts";
import { migrationStatus } from "../store/migrate.ts";
import { vacuumDatabase } from "../store/vacuum.ts";
import { databaseOf, existingDatabaseOf, type Folder, lockDataDirectory } from "./data-folder.ts";
import type { Stored } from "./local-store.ts";

/**
 * Checks the database of a data folder. Changes nothing, and does not delay a server that runs on it.
 *
 * @throws Error when it has no database; StorageError when it cannot be read now
 */
export async function checkLocal(config: Stored): Promise<DatabaseCheck> {
  if (config.database === undefined) return checkDatabase({ path: existingDatabaseOf(config) });
  const { openConnection } = await import("../store/postgres/connection.ts");
  const shared = await import("../store/postgres/stock.ts");
  const connection = openConnection({ url: config.database.reveal(), connections: 1 });
  try {
    return await connection.opening(() => shared.checkDatabase(connection));
  } finally {
    await connection.stop();
  }
}

/** Sizes of the database with its log, in bytes. */
export interface Vacuumed {
  readonly beforeBytes: number;
  readonly afterBytes: number;
}

/**
 * Rewrites the database of a data folder without its free pages.
 *
 * @throws Error when it has no database; DataDirectoryBusy when a server runs on the folder, because the server would have to
 * wait; SchemaError for a database of a newer program; StorageError
 */
export function vacuumLocal(config: Folder): Vacuumed {
  const path = existingDatabaseOf(config);
  const release = lockDataDirectory(config);
  try {
    migrationStatus({ path });
    const beforeBytes = sizeOf(config);
    vacuumDatabase({ path });
    return { beforeBytes, afterBytes: sizeOf(config) };
  } finally {
    release();
  }
}

function sizeOf(config: Folder): number {
  const path = databaseOf(config);
  return [path, `${path}-wal`].reduce(
    (sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

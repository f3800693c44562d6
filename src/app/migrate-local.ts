import { type MigrationProgress, migrate, migrationStatus } from "../store/migrate.ts";
import { databaseOf, ensureDirectory, type Folder, lockDataDirectory } from "./data-folder.ts";

/**
 * Applies pending migrations to a data folder's database, or only reports them.
 *
 * @param tell called for every 100,000 rows of a large table that is rewritten
 * @returns names; `applied` by this call
 * @throws DataDirectoryBusy when migrations are to be applied and a server runs on the folder
 */
export function migrateLocal(
  config: Folder,
  action: "up" | "status",
  tell?: (progress: MigrationProgress) => void,
) {
  const path = databaseOf(config);
  const applied = action === "up" ? migrateAlone(config, tell) : [];
  const state = migrationStatus({ path });
  const current = state.applied.length;
  return { applied, pending: state.pending, current, latest: current + state.pending.length };
}

/** Applies migrations under the lock of the data folder: a server that runs on it expects the tables it was started with. */
function migrateAlone(config: Folder, tell?: (progress: MigrationProgress) => void): string[] {
  ensureDirectory(config.dataDir);
  const release = lockDataDirectory(config);
  try {
    return migrate({ path: databaseOf(config) }, tell);
  } finally {
    release();
  }
}

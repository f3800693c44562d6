import { type MigrationProgress, migrate, migrationStatus } from "../store/migrate.ts";
import { databaseOf, ensureDirectory, lockDataDirectory } from "./data-folder.ts";
import { type FilesFolder, requireDatabaseOfFiles } from "./files-without-database.ts";
import type { Stored } from "./local-store.ts";

/**
 * Applies pending migrations to a data folder's database, or only reports them.
 *
 * @param tell called when a migration begins, and for every 100,000 rows of a large table that it rewrites
 * @returns names; `applied` by this call
 * @throws DataDirectoryBusy when migrations are to be applied and a server runs on the folder
 */
export async function migrateLocal(
  config: Stored & FilesFolder,
  action: "up" | "status",
  tell?: (progress: MigrationProgress) => void,
) {
  if (config.database !== undefined) return migrateShared(config.database.reveal(), action);
  const path = databaseOf(config);
  const applied = action === "up" ? await migrateAlone(config, tell) : [];
  const state = migrationStatus({ path });
  const current = state.applied.length;
  return { applied, pending: state.pending, current, latest: current + state.pending.length };
}

/**
 * Running nodes expect the tables with which they were started, so stop them first. One process applies the migrations, others wait.
 */
async function migrateShared(url: string, action: "up" | "status") {
  const { openConnection } = await import("../store/postgres/connection.ts");
  const { applyMigrations, readMigrationState } = await import("../store/postgres/migrate.ts");
  const connection = openConnection({ url, connections: 2 });
  try {
    const { applied, state } = await connection.opening(async () => ({
      applied: action === "up" ? await applyMigrations(connection.driver) : [],
      state: await readMigrationState(connection.driver),
    }));
    const current = state.applied.length;
    return { applied, pending: state.pending, current, latest: current + state.pending.length };
  } finally {
    await connection.stop();
  }
}

/**
 * Applies migrations while holding the lock of the data folder, because a running server expects the tables with which it was
 * started.
 */
async function migrateAlone(
  config: FilesFolder,
  tell?: (progress: MigrationProgress) => void,
): Promise<string[]> {
  ensureDirectory(config.dataDir);
  const release = lockDataDirectory(config);
  try {
    await requireDatabaseOfFiles(config);
    return migrate({ path: databaseOf(config) }, tell);
  } finally {
    release();
  }
}

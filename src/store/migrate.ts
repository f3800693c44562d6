import { existsSync } from "node:fs";
import { openDatabase, type TrackingDatabase } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { applyMigrations, type MigrationState, readMigrationState } from "./sqlite/migrate.ts";
import type { TellProgress } from "./sqlite/migrate-steps.ts";
import { MIGRATIONS } from "./sqlite/migrations.ts";

export type { MigrationProgress } from "./sqlite/migrate-steps.ts";

/**
 * Brings the database at `path` up to date, creating it if it is missing.
 *
 * @param tell called when a migration begins, and for every 100,000 rows of a large table that it rewrites
 * @returns the names of the migrations applied now
 * @throws SchemaError when the database is newer than this program or was migrated by an edited migration;
 *   StorageError when it cannot be opened or written
 */
export function migrate(options: { path: string }, tell?: TellProgress): string[] {
  return using(options.path, (db) => applyMigrations(db, MIGRATIONS, tell));
}

/**
 * Lists the applied and the pending migrations of the database at `path`. Changes nothing and creates no file.
 *
 * @throws SchemaError like `migrate`
 */
export function migrationStatus(options: { path: string }): MigrationState {
  if (!existsSync(options.path))
    return { applied: [], pending: MIGRATIONS.map((migration) => migration.name) };
  return using(options.path, (db) => readMigrationState(db));
}

function using<T>(path: string, use: (db: TrackingDatabase) => T): T {
  const db = openDatabase(path);
  try {
    return translating(() => use(db));
  } finally {
    db.stop();
  }
}

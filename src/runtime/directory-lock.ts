import { Database } from "bun:sqlite";
import { join } from "node:path";

export interface DirectoryLock {
  release(): void;
}

/**
 * Locks the data folder for this process. The operating system holds the lock on an open file (an exclusive
 * SQLite transaction that never ends), so a killed process leaves no lock behind.
 *
 * @returns undefined when another process holds it
 */
export function lockDirectory(directory: string): DirectoryLock | undefined {
  const database = openLockFile(directory);
  try {
    database.run("PRAGMA journal_mode = DELETE");
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    database.run("BEGIN EXCLUSIVE");
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return undefined;
    throw error;
  }
}

function openLockFile(directory: string): Database {
  try {
    return new Database(join(directory, "server.lock"), { create: true });
  } catch (cause) {
    throw new Error(`The data folder ${directory} cannot be written to.`, { cause });
  }
}

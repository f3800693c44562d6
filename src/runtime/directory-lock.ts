import { Database } from "bun:sqlite";
import { join } from "node:path";

export interface DirectoryLock {
  release(): void;
}

/**
 * Takes the data folder for this process alone, or says that another has it. The lock is the operating system's on an open
 * file (an exclusive SQLite transaction that is never ended), so a killed process leaves none behind.
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

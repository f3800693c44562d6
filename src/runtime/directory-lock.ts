import { Database } from "bun:sqlite";
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { StorageError } from "../domain/ports/task-store.ts";
import { isHeldByReadersOnly, writerOf } from "./lock-holders.ts";

export interface DirectoryLock {
  release(): void;
}

/** The file in a data folder that holds its lock. */
export const lockFileOf = (directory: string): string => join(directory, "server.lock");

/**
 * Locks the data folder for this process. The operating system holds the lock on an open file (an exclusive
 * SQLite transaction that never ends), so a killed process leaves no lock behind.
 *
 * @param path of the lock's file, where it is not a data folder's
 * @returns undefined when another process holds it
 */
export function lockDirectory(directory: string, path = lockFileOf(directory)): DirectoryLock | undefined {
  const lock = lockFile(path);
  if (lock !== undefined) return lock;
  const { ino } = statSync(path);
  return isHeldByReadersOnly(ino) ? replaceAndLock(path, ino) : undefined;
}

/** Whether a process holds the lock of a data folder, and which, as far as the system tells. Changes nothing. */
export function lockHolder(directory: string): {
  readonly isHeld: boolean;
  readonly pid?: number | undefined;
} {
  const path = lockFileOf(directory);
  if (!existsSync(path)) return { isHeld: false };
  const database = new Database(path, { readonly: true });
  try {
    // Of no use to readers, who wait for the end of the transaction.
    database.query("select count(*) from sqlite_schema").get();
    return { isHeld: false };
  } catch (error) {
    const isHeld = error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
    if (!isHeld) throw error;
    return { isHeld, pid: writerOf(statSync(path).ino) };
  } finally {
    database.close();
  }
}

/**
 * Replaces a lock file that a process with read access holds open, from a time when other users could read the folder. Processes
 * that try at once find the same new file. A process that finds the old file already replaced gives up its own and starts again.
 */
function replaceAndLock(path: string, replaced: number): DirectoryLock | undefined {
  const fresh = `${path}.new`;
  const lock = lockFile(fresh);
  if (lock === undefined) return undefined;
  if (statSync(path).ino === replaced) {
    renameSync(fresh, path);
    return lock;
  }
  rmSync(fresh, { force: true });
  lock.release();
  return lockFile(path);
}

function lockFile(path: string): DirectoryLock | undefined {
  const database = openLockFile(path);
  try {
    database.run("PRAGMA journal_mode = DELETE");
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    database.run("BEGIN EXCLUSIVE");
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "SQLITE_BUSY") return undefined;
    throw code === "SQLITE_FULL" ? new StorageError("full", "The disk is full.", error) : error;
  }
}

function openLockFile(path: string): Database {
  try {
    return new Database(path, { create: true });
  } catch (cause) {
    const folder = dirname(path);
    const advice = `Give it to the user who runs svc (sudo chown -R "$(id -un)" ${folder}), or choose another --data-dir.`;
    throw new Error(`The data folder ${folder} cannot be written to. ${advice}`, { cause });
  }
}

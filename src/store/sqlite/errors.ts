import { SQLiteError } from "bun:sqlite";
import { StorageError } from "../../domain/ports/task-store.ts";

/**
 * Translates a database error into its kind of storage error; undefined for others (a constraint, a defect).
 */
export function asStorageError(error: unknown): StorageError | undefined {
  if (error instanceof StorageError) return error;
  if (!(error instanceof SQLiteError)) return undefined;
  const code = error.code ?? "";
  // SHMSIZE means that the disk has no room for the shared-memory file; nothing was written.
  if (code === "SQLITE_FULL" || code === "SQLITE_IOERR_SHMSIZE") {
    return new StorageError("full", "The disk is full.", error);
  }
  if (code.startsWith("SQLITE_READONLY") || code.startsWith("SQLITE_CANTOPEN")) {
    return new StorageError("read_only", "The database cannot be written.", error);
  }
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return new StorageError("busy", "Another process holds the database.", error);
  }
  if (/^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(code)) {
    return new StorageError("damaged", "The database or its disk is damaged.", error);
  }
  return undefined;
}

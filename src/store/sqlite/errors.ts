import { SQLiteError } from "bun:sqlite";
import { StorageError } from "../../domain/ports/task-store.ts";

/** The kinds of storage errors by SQLite's codes. SHMSIZE: the disk has no room for the shared-memory file; nothing was written. */
const KINDS = [
  ["full", /^SQLITE_(FULL|IOERR_SHMSIZE)$/, "The disk is full."],
  ["read_only", /^SQLITE_(READONLY|CANTOPEN)/, "The database cannot be written."],
  ["busy", /^SQLITE_(BUSY|LOCKED|PROTOCOL)/, "Another process holds the database."],
  ["damaged", /^SQLITE_(IOERR|CORRUPT|NOTADB)/, "The database or its disk is damaged."],
] as const;

/** Translates a database error into its kind of storage error; undefined for others (a constraint, a defect). */
export function asStorageError(error: unknown): StorageError | undefined {
  if (error instanceof StorageError) return error;
  if (!(error instanceof SQLiteError)) return undefined;
  const code = error.code ?? "";
  const known = KINDS.find(([, pattern]) => pattern.test(code));
  return known && new StorageError(known[0], known[2], error);
}

/** Runs something and throws errors of the storage as such. */
export function translating<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw asStorageError(error) ?? error;
  }
}

import { statSync } from "node:fs";
import type { DatabaseCheck, DatabaseFault } from "../domain/ports/database-check.ts";
import type { StorageError } from "../domain/ports/task-store.ts";
import { openForReading, type TrackingDatabase } from "./sqlite/connection.ts";
import { asStorageError } from "./sqlite/errors.ts";
import { readMigrationState, SchemaError } from "./sqlite/migrate.ts";
import { MIGRATIONS } from "./sqlite/migrations.ts";

/** Most faults of one kind that a check lists. */
const MOST_FAULTS = 100;

/**
 * Reads a whole database and checks it. Changes nothing, and a server may use it meanwhile. Takes as long as reading the file does.
 *
 * @throws StorageError when it cannot be read now, which says nothing of it: the disk is full, this user may not, or another process
 *   prevents it
 */
export function checkDatabase({ path }: { path: string }): DatabaseCheck {
  const sizes = { fileBytes: sizeOf(path), walBytes: sizeOf(`${path}-wal`) };
  const faults: DatabaseFault[] = [];
  const unknown = { latest: MIGRATIONS.length, pending: [] };
  const db = guarded(faults, () => openForReading(path));
  if (db === undefined) return { ...sizes, faults, schema: unknown };
  try {
    const schema = guarded(faults, () => checkSchema(db, faults)) ?? unknown;
    const pages = guarded(faults, () => readPages(db));
    guarded(faults, () => faults.push(...integrityFaults(db)));
    guarded(faults, () => faults.push(...referenceFaults(db)));
    return { ...sizes, faults, schema, pages };
  } finally {
    db.stop();
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Runs a part of the check. Damage that prevents SQLite from reading counts as a fault of its own, reported once. */
function guarded<T>(faults: DatabaseFault[], run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    const trouble = asStorageError(error);
    if (trouble === undefined || trouble.kind !== "damaged") throw trouble ?? error;
    const fault = { kind: "unreadable", message: messageOf(trouble) } as const;
    if (!faults.some(({ message }) => message === fault.message)) faults.push(fault);
    return undefined;
  }
}

function messageOf({ message, cause }: StorageError): string {
  const detail = cause instanceof Error ? ` (SQLite: ${cause.message})` : "";
  return `${message}${detail}`;
}

function checkSchema(db: TrackingDatabase, faults: DatabaseFault[]): DatabaseCheck["schema"] {
  try {
    const { applied, pending } = readMigrationState(db);
    return { latest: MIGRATIONS.length, current: applied.length, pending };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    faults.push({ kind: "schema", message: error.message });
    return { latest: MIGRATIONS.length, pending: [] };
  }
}

function readPages(db: TrackingDatabase): DatabaseCheck["pages"] {
  const read = (name: string) => Number(db.query(`pragma ${name}`).values()[0]?.[0]);
  return { sizeBytes: read("page_size"), count: read("page_count"), free: read("freelist_count") };
}

function integrityFaults(db: TrackingDatabase): DatabaseFault[] {
  const found = db.query(`pragma integrity_check(${MOST_FAULTS})`).values().flat().map(String);
  return found.flatMap((text) =>
    text === "ok"
      ? []
      : text.split("\n").map((message): DatabaseFault => ({ kind: "integrity", message: `${message}.` })),
  );
}

function referenceFaults(db: TrackingDatabase): DatabaseFault[] {
  const broken = db
    .query<{ table: string; rowid: number | null; parent: string }, []>("pragma foreign_key_check")
    .all();
  return broken.slice(0, MOST_FAULTS).map(({ table, rowid, parent }) => ({
    kind: "reference",
    message: `Row ${rowid ?? "?"} of ${table} names a row of ${parent} that is not there.`,
  }));
}

import { Database } from "bun:sqlite";
import { openForReading } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { readMigrationState } from "./sqlite/migrate.ts";

/**
 * Copies a database as it is at one moment, without its free pages, into a new file. A server may write meanwhile and is not delayed;
 * its write-ahead log becomes longer until the copy is done. Nothing is flushed.
 *
 * @throws SchemaError for a database of a later version; StorageError when it cannot be read, or the copy not be written
 */
export function copyDatabase({ path }: { path: string }, to: string): void {
  const db = openForReading(path);
  try {
    translating(() => {
      readMigrationState(db);
      db.query("vacuum into ?").run(to);
    });
  } finally {
    db.stop();
  }
}

/** What a copy of a database says of itself. */
export interface CopiedDatabase {
  /** How many migrations were applied, and the name of the latest; empty where none was. */
  readonly migrations: number;
  readonly latestMigration: string;
  /** The id of the first account, which two data folders never share. */
  readonly source: string | undefined;
}

export function describeDatabase(copy: string): CopiedDatabase {
  using db = new Database(copy, { readonly: true, strict: true });
  const { applied } = readMigrationState(db);
  const isEmpty = applied.length === 0;
  const first = isEmpty
    ? null
    : db.query<{ id: string }, []>("select id from account order by id limit 1").get();
  return { migrations: applied.length, latestMigration: applied.at(-1) ?? "", source: first?.id };
}

/** The hash of a file in hexadecimal, as SQL. A database that waits for its migrations has it as text. */
const HASH = "iif(typeof(asset.sha256) = 'blob', lower(hex(asset.sha256)), asset.sha256)";

/** A stored file that a database names. */
export interface NamedContent {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** The stored files that a copy of a database names, each once. */
export function* contentsOf(copy: string): Generator<NamedContent> {
  const db = new Database(copy, { readonly: true, strict: true });
  try {
    if (readMigrationState(db).applied.length === 0) return;
    const contents = db.prepare<NamedContent, []>(
      `select ${HASH} as sha256, max(size_bytes) as sizeBytes from asset group by asset.sha256`,
    );
    yield* contents.iterate();
    contents.finalize();
  } finally {
    db.close();
  }
}

/** Which of these hashes a database names now. */
export function namedOf({ path }: { path: string }, hashes: readonly string[]): string[] {
  if (hashes.length === 0) return [];
  const db = openForReading(path);
  try {
    const find = db.query<{ sha256: string }, [string]>(
      `select distinct ${HASH} as sha256 from asset
       where asset.sha256 in (select unhex(value) from json_each(?1) union all select value from json_each(?1))`,
    );
    return find.all(JSON.stringify(hashes)).map(({ sha256 }) => sha256);
  } finally {
    db.stop();
  }
}

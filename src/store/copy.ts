import { Database } from "bun:sqlite";
import { openForReading } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { readMigrationState } from "./sqlite/migrate.ts";

/**
 * Copies one moment of a database, without its free pages, into a new file. A server may write meanwhile and is not delayed;
 * its write-ahead log becomes longer until the copy is done. Nothing is flushed.
 *
 * @throws SchemaError for a database of a later version; StorageError when it cannot be read or the copy cannot be written
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

/** The facts that a copy of a database states about itself. */
export interface CopiedDatabase {
  /** How many migrations were applied, and the name of the latest; empty if there were none. */
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

/** The hash of a table's file in hexadecimal, as SQL. A database with pending migrations may store it as text. */
const hashIn = (table: "asset" | "upload") =>
  `iif(typeof(${table}.sha256) = 'blob', lower(hex(${table}.sha256)), ${table}.sha256)`;

/** The tables that name files. A database with pending migrations may lack the second. */
function namingTables(db: Database): readonly ("asset" | "upload")[] {
  const upload = db.query("select 1 from sqlite_schema where type = 'table' and name = 'upload'").get();
  return upload === null ? ["asset"] : ["asset", "upload"];
}

/** A stored file that a database names. */
export interface NamedContent {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** The stored outputs of tasks of which others are still fetched: no table of files names them before the last has come. */
function outputsUnderWay(db: Database): NamedContent[] {
  const numbered = db.query("select 1 from pragma_table_info('attempt') where name = 'task_number'").get();
  const isOfTask = numbered === null ? "attempt.task_id = task.id" : "attempt.task_number = task.number";
  const find = db.query<NamedContent, []>(
    `select output.value ->> '$.file.sha256' as sha256, max(output.value ->> '$.file.sizeBytes') as sizeBytes
     from task indexed by task_under_way cross join attempt on ${isOfTask} cross join json_each(attempt.outputs) as output
     where pool = 'under_way' and output.value ->> '$.kind' = 'stored' group by 1`,
  );
  return find.all();
}

/** The stored files that a copy of a database names, without duplicates. */
export function* contentsOf(copy: string): Generator<NamedContent> {
  const db = new Database(copy, { readonly: true, strict: true });
  try {
    if (readMigrationState(db).applied.length === 0) return;
    for (const table of namingTables(db)) {
      const isNew =
        table === "asset" ? "" : "where not exists (select 1 from asset where asset.sha256 = upload.sha256)";
      const contents = db.prepare<NamedContent, []>(
        `select ${hashIn(table)} as sha256, max(size_bytes) as sizeBytes from ${table} ${isNew} group by ${table}.sha256`,
      );
      yield* contents.iterate();
      contents.finalize();
    }
    const outputs = outputsUnderWay(db);
    const known = hashesNamed(
      db,
      outputs.map(({ sha256 }) => sha256),
    );
    yield* outputs.filter(({ sha256 }) => !known.has(sha256));
  } finally {
    db.close();
  }
}

/** The hashes among these that a database names now. */
export function namedOf({ path }: { path: string }, hashes: readonly string[]): string[] {
  if (hashes.length === 0) return [];
  const db = openForReading(path);
  try {
    const named = hashesNamed(db, hashes);
    for (const { sha256 } of outputsUnderWay(db)) named.add(sha256);
    return [...new Set(hashes)].filter((sha256) => named.has(sha256));
  } finally {
    db.stop();
  }
}

/** The hashes among these that the tables of files have. */
function hashesNamed(db: Database, hashes: readonly string[]): Set<string> {
  const found = namingTables(db).flatMap((table) => {
    const find = db.query<{ sha256: string }, [string]>(
      `select distinct ${hashIn(table)} as sha256 from ${table}
       where ${table}.sha256 in (select unhex(value) from json_each(?1) union all select value from json_each(?1))`,
    );
    return find.all(JSON.stringify(hashes)).map(({ sha256 }) => sha256);
  });
  return new Set(found);
}

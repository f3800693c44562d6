import type { Database } from "bun:sqlite";
import type { Migration } from "./built-in.ts";
import {
  applySteps,
  inTransaction,
  isInSteps,
  migrationUnderWay,
  type TellProgress,
} from "./migrate-steps.ts";
import { MIGRATIONS, SCHEMA } from "./migrations.ts";
import { withTemporaryFiles } from "./temporary-files.ts";

/** The database has other tables than this program needs. Nothing was changed. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
  constructor(
    /**
     * `newer` made by a later version · `edited` an applied migration has changed since · `pending` not migrated yet · `foreign` it has
     * tables of another program · `unfinished` a move into it has not ended · `moved` its rows are elsewhere now.
     */
    readonly kind: "newer" | "edited" | "pending" | "foreign" | "unfinished" | "moved",
    message: string,
  ) {
    super(message);
  }
}

export interface MigrationState {
  /** Names, oldest first. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

const CREATE_LOG = `create table if not exists schema_migration (
  number integer primary key not null,
  name text not null,
  checksum text not null,
  applied_at integer not null
) strict`;

/**
 * Which migrations are applied and which are pending.
 *
 * @throws SchemaError when the database is newer than `migrations`, or one of them was edited after it was applied
 */
export function readMigrationState(db: Database, migrations = MIGRATIONS): MigrationState {
  const applied = appliedMigrations(db);
  check(applied, migrations);
  const underWay = migrationUnderWay(db);
  const done = applied.filter((migration) => migration.number !== underWay);
  const numbers = new Set(done.map((migration) => migration.number));
  return {
    applied: done.map((migration) => migration.name),
    pending: migrations
      .filter((migration) => !numbers.has(migration.number))
      .map((migration) => migration.name),
  };
}

/** As `readMigrationState`. @throws SchemaError also when migrations are pending */
export function requireMigrated(db: Database): MigrationState {
  const state = readMigrationState(db);
  if (state.pending.length === 0) return state;
  throw new SchemaError("pending", `The database lacks migrations: ${state.pending.join(", ")}.`);
}

/**
 * Applies the pending migrations, each in its own transaction, or in several where it says so. An empty database gets what all of them
 * make at once.
 *
 * @param tell called when each begins, and for every 100,000 rows of those that rewrite large tables
 * @returns the names of those applied now
 * @throws SchemaError as `readMigrationState` does
 */
export function applyMigrations(db: Database, migrations = MIGRATIONS, tell?: TellProgress): string[] {
  // Does not write to an up-to-date database, so that a read-only one can be opened.
  if (readMigrationState(db, migrations).pending.length === 0) return [];
  return unsynced(db, () => {
    if (migrations === MIGRATIONS && makeAtOnce(db)) return MIGRATIONS.map(({ name }) => name);
    db.run(CREATE_LOG);
    // New indexes are sorted, which takes as much space as they have.
    return withTemporaryFiles(db, () =>
      migrations
        .filter((migration) => applyOne(db, { migration, migrations, tell }))
        .map((migration) => migration.name),
    );
  });
}

/** @returns false when the database is not empty. Another process may have begun to make it. */
function makeAtOnce(db: Database): boolean {
  return inTransaction(db, () => {
    if (db.query("select 1 from sqlite_schema").get() !== null) return false;
    db.run(CREATE_LOG);
    db.run(SCHEMA);
    for (const migration of MIGRATIONS) note(db, migration);
    return true;
  });
}

/**
 * Waits for no disk at each commit. A power cut may take migrations away then, and whatever follows them in the write-ahead log; the
 * next start applies them again.
 */
function unsynced<T>(db: Database, work: () => T): T {
  const { synchronous = 2 } = db.query<{ synchronous: number }, []>("pragma synchronous").get() ?? {};
  db.run("pragma synchronous = normal");
  try {
    return work();
  } finally {
    db.run(`pragma synchronous = ${synchronous}`);
  }
}

/**
 * The statement in a migration that rebuilds a table. It has no effect inside a transaction, so it runs around it. All references
 * are checked at the end.
 */
const REBUILDS = /^PRAGMA foreign_keys=OFF;/m;

interface Applied {
  readonly migration: Migration;
  readonly migrations: readonly Migration[];
  readonly tell: TellProgress | undefined;
}

/** @returns false when the migration is already applied, perhaps by another process */
function applyOne(db: Database, { migration, migrations, tell }: Applied): boolean {
  if (!readMigrationState(db, migrations).pending.includes(migration.name)) return false;
  tell?.({ name: migration.name });
  if (isInSteps(migration)) {
    applySteps(db, migration, () => note(db, migration), tell);
    return true;
  }
  if (!REBUILDS.test(migration.sql)) return applyInTransaction(db, migration, migrations);
  db.run("pragma foreign_keys = off");
  try {
    return applyInTransaction(db, migration, migrations);
  } finally {
    db.run("pragma foreign_keys = on");
  }
}

function applyInTransaction(db: Database, migration: Migration, migrations: readonly Migration[]): boolean {
  return inTransaction(db, () => {
    const { pending } = readMigrationState(db, migrations);
    const isPending = pending.includes(migration.name);
    if (isPending) {
      db.run(migration.sql);
      const broken = !REBUILDS.test(migration.sql)
        ? null
        : db.query<{ table: string }, []>("pragma foreign_key_check").get();
      if (broken !== null)
        throw new Error(`${migration.name} leaves rows of ${broken.table} without what they refer to.`);
      note(db, migration);
    }
    return isPending;
  });
}

/** Writes that a migration is applied. By the database's clock: only people read this time. */
function note(db: Database, migration: Migration): void {
  db.run("insert into schema_migration values (?, ?, ?, cast(unixepoch('subsec') * 1000 as integer))", [
    migration.number,
    migration.name,
    checksum(migration),
  ]);
}

function appliedMigrations(db: Database): AppliedMigration[] {
  const exists = db
    .query("select 1 from sqlite_schema where type = 'table' and name = 'schema_migration'")
    .get();
  if (exists === null) return [];
  return db
    .query<AppliedMigration, []>("select number, name, checksum from schema_migration order by number")
    .all();
}

function check(applied: readonly AppliedMigration[], migrations: readonly Migration[]): void {
  const known = new Map(migrations.map((migration) => [migration.number, migration]));
  const newest = migrations.at(-1)?.name ?? "none";
  for (const there of applied) {
    const migration = known.get(there.number);
    if (migration === undefined) {
      throw new SchemaError(
        "newer",
        `The database has migration ${there.name}; this program knows none after ${newest}. Use the newer version of the program, or restore a backup from before it.`,
      );
    }
    if (checksum(migration) !== there.checksum) {
      throw new SchemaError(
        "edited",
        `Migration ${there.name} is not the one that was applied to the database: its text has changed since.`,
      );
    }
  }
}

const checksums = new WeakMap<Migration, string>();

/** Each applied migration needs the sums of all. */
function checksum(migration: Migration): string {
  const known =
    checksums.get(migration) ?? new Bun.CryptoHasher("sha256").update(migration.sql).digest("hex");
  checksums.set(migration, known);
  return known;
}

import type { Database } from "bun:sqlite";
import type { Migration } from "./built-in.ts";

/*
 * A migration that rewrites large tables is made in steps, each in its own transaction, so that one that is cut off goes on where it
 * was. Its file begins with `-- in steps`. A step that begins with `-- for the rows of TABLE` runs once for each slice of the table:
 * after row ?1, up to row ?2. Such a migration is among the applied ones from its beginning, so that earlier versions of the program
 * refuse the database; a row of `migration_step` says that it is not done.
 */

const IN_STEPS = /^-- in steps\n/;
const SLICED = /^-- for the rows of (\w+)\n/;
const BREAK = "--> statement-breakpoint";
/** Rows of a slice: a tenth of a second's worth. */
const SLICE = 10_000;
/** Rows after which progress is told. */
const TELL_EVERY = 100_000;

/** Transactions after which the log is copied into the database: it takes a hundred megabytes at most. */
const CHECKPOINT_EVERY = 8;

const CREATE_PLACE = `create table if not exists migration_step (
  number integer primary key not null,
  step integer not null,
  row integer not null
) strict`;

/** The progress of a migration. */
export interface MigrationProgress {
  /** The migration's name. */
  readonly name: string;
  /** How far it is in a large table that it rewrites. Absent when it begins. */
  readonly slice?: MigrationSlice;
}

export interface MigrationSlice {
  /** The step that is being made, from 1 on. */
  readonly step: number;
  readonly steps: number;
  /** The table whose rows it goes through, how many of them are done, and about how many there are. */
  readonly table: string;
  readonly rows: number;
  readonly of: number;
}

export type TellProgress = (progress: MigrationProgress) => void;

interface Place {
  readonly number: number;
  /** Steps that are done. */
  readonly step: number;
  /** The last row of the next step that is done. */
  readonly row: number;
}

export const isInSteps = (migration: Migration): boolean => IN_STEPS.test(migration.sql);

/** The number of the migration whose steps are not all done. */
export function migrationUnderWay(db: Database): number | undefined {
  return placeOf(db)?.number;
}

/**
 * Runs the steps that are not done yet.
 *
 * @param note writes that the migration is applied; called in the transaction that begins it
 * @param tell called for every 100,000 rows of a step that goes through as many
 */
export function applySteps(db: Database, migration: Migration, note: () => void, tell?: TellProgress): void {
  const steps = migration.sql.replace(IN_STEPS, "").split(BREAK);
  db.run("pragma foreign_keys = off");
  try {
    inTransaction(db, () => {
      if (migrationUnderWay(db) !== undefined) return;
      db.run(CREATE_PLACE);
      db.run("insert into migration_step values (?, 0, 0)", [migration.number]);
      note();
    });
    for (let [made, isDone] = [0, false]; !isDone; made++) {
      // Read in the transaction: another process may make steps, too.
      isDone = inTransaction(db, () => {
        const place = placeOf(db);
        if (place === undefined) return true;
        const sql = steps[place.step]?.trim();
        if (sql === undefined) finish(db, migration);
        else
          runStep(db, sql, place, (at) =>
            tell?.({ name: migration.name, slice: { ...at, steps: steps.length } }),
          );
        return sql === undefined;
      });
      // SQLite's own checkpoints may be switched off.
      if (made % CHECKPOINT_EVERY === 0) db.run("pragma wal_checkpoint(passive)");
    }
    // The log would stay as long as it became.
    db.run("pragma wal_checkpoint(truncate)");
  } finally {
    db.run("pragma foreign_keys = on");
  }
}

function placeOf(db: Database): Place | undefined {
  const isThere = db.query("select 1 from sqlite_schema where name = 'migration_step'").get() !== null;
  return isThere ? (db.query<Place, []>("select * from migration_step").get() ?? undefined) : undefined;
}

/** Runs a step, or its next slice. */
function runStep(
  db: Database,
  sql: string,
  { step, row }: Place,
  tell: (at: Omit<MigrationSlice, "steps">) => void,
): void {
  const table = SLICED.exec(sql)?.[1];
  const last = table === undefined ? row : lastRowOf(db, table);
  const to = Math.min(row + SLICE, last);
  if (table === undefined) db.run(sql);
  else if (to > row) {
    if (row % TELL_EVERY === 0 && last > TELL_EVERY) tell({ step: step + 1, table, rows: row, of: last });
    db.run(sql, [row, to]);
  }
  db.run("update migration_step set step = ?, row = ?", to < last ? [step, to] : [step + 1, 0]);
}

function lastRowOf(db: Database, table: string): number {
  const row = db.query<{ last: number }, []>(`select coalesce(max(rowid), 0) as last from ${table}`).get();
  return row?.last ?? 0;
}

function finish(db: Database, { name }: Migration): void {
  const broken = db.query<{ table: string }, []>("pragma foreign_key_check").get();
  if (broken !== null) throw new Error(`${name} leaves rows of ${broken.table} without what they refer to.`);
  db.run("delete from migration_step");
}

/** Runs work in a transaction of its own, which another process's waits for. */
export function inTransaction<T>(db: Database, work: () => T): T {
  db.run("begin immediate");
  try {
    const result = work();
    db.run("commit");
    return result;
  } catch (error) {
    if (db.inTransaction) db.run("rollback");
    throw error;
  }
}

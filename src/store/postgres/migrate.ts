import { type MigrationState, SchemaError } from "../sqlite/migrate.ts";
import type { Driver } from "./driver.ts";
import { MIGRATIONS } from "./migrations.ts";
import { type Session, statement } from "./session.ts";

/** Held while migrations are applied, so that only one process applies them. */
const LOCK = 0x73766331;

interface Applied {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

const APPLIED = statement<Applied>("select number, name, checksum from schema_migration order by number");
/** Other programs have tables with this name and other columns. */
const LOG = statement<{ is_there: 0 | 1; is_ours: 0 | 1 }>(
  `select (to_regclass('schema_migration') is not null)::int as is_there, (4 = (select count(*) from pg_attribute
     where attrelid = to_regclass('schema_migration') and attname in ('number', 'name', 'checksum', 'applied_at')))::int as is_ours`,
);
const CREATE_LOG = statement(
  `create table if not exists schema_migration (
     number bigint primary key, name text not null, checksum text not null, applied_at bigint not null)`,
);
const NOTE = statement<never, [number: number, name: string, checksum: string]>(
  "insert into schema_migration values ($1, $2, $3, extract(epoch from clock_timestamp()) * 1000)",
);
/** The row of the whole move has no name. */
const UNFINISHED_MOVE = statement("select 1 as found from move_progress where name = '' and is_done = 0");
// Tables that an extension created belong to nobody.
const FOREIGN = statement<{ name: string }>(
  `select relname as name from pg_class
   where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
     and not exists (select 1 from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
   order by relname limit 1`,
);

/** As `readMigrationState` of SQLite. @throws SchemaError as it does */
export async function readMigrationState(session: Session): Promise<MigrationState> {
  const applied = await appliedMigrations(session);
  for (const there of applied) check(there);
  const numbers = new Set(applied.map(({ number }) => number));
  return {
    applied: applied.map(({ name }) => name),
    pending: MIGRATIONS.filter(({ number }) => !numbers.has(number)).map(({ name }) => name),
  };
}

/** As `readMigrationState`. @throws SchemaError also when migrations are pending, and when a move into the database has not ended */
export async function requireMigrated(session: Session): Promise<MigrationState> {
  const state = await readMigrationState(session);
  if (state.pending.length > 0)
    throw new SchemaError("pending", `The database lacks migrations: ${state.pending.join(", ")}.`);
  if ((await UNFINISHED_MOVE.get(session)) !== undefined)
    throw new SchemaError("unfinished", "A move into this database has not ended. Run it again.");
  return state;
}

/**
 * Applies the pending migrations in one transaction. One process applies them, others wait.
 *
 * @returns the names of those applied now
 * @throws SchemaError like `readMigrationState`, and for a database with tables of another program
 */
export async function applyMigrations(driver: Driver): Promise<string[]> {
  if ((await readMigrationState(driver)).pending.length === 0) return [];
  const transaction = await driver.begin({ isLong: true });
  try {
    await transaction.ask("select pg_advisory_xact_lock($1) is null as locked", [LOCK]);
    const { applied, pending } = await readMigrationState(transaction);
    if (applied.length === 0) await refuseForeign(transaction);
    await CREATE_LOG.run(transaction);
    for (const migration of MIGRATIONS.filter(({ name }) => pending.includes(name))) {
      for (const text of migration.sql.split("--> statement-breakpoint")) await transaction.ask(text, []);
      await NOTE.run(transaction, migration.number, migration.name, checksum(migration.sql));
    }
    await transaction.commit();
    return [...pending];
  } catch (error) {
    await transaction.rollback().catch(() => {});
    throw error;
  }
}

/** A database that has tables but no log of ours belongs to another program. */
async function refuseForeign(session: Session): Promise<void> {
  const table = await FOREIGN.get(session);
  if (table !== undefined) throw foreign(table.name);
}

const foreign = (table: string) =>
  new SchemaError(
    "foreign",
    `The database has a table "${table}" and none of this program's. Give a database, or a schema, of its own.`,
  );

async function appliedMigrations(session: Session): Promise<Applied[]> {
  // A statement that failed would end a transaction.
  const { is_there, is_ours } = (await LOG.get(session)) ?? { is_there: 0, is_ours: 0 };
  if (is_there === 1 && is_ours === 0) throw foreign("schema_migration");
  return is_there === 1 ? APPLIED.all(session) : [];
}

function check(there: Applied): void {
  const known = MIGRATIONS.find(({ number }) => number === there.number);
  const newest = MIGRATIONS.at(-1)?.name ?? "none";
  if (known === undefined) {
    throw new SchemaError(
      "newer",
      `The database has migration ${there.name}; this program knows none after ${newest}. Use the newer version of the program, or restore a backup from before it.`,
    );
  }
  if (checksum(known.sql) !== there.checksum) {
    throw new SchemaError(
      "edited",
      `Migration ${there.name} is not the one that was applied to the database: its text has changed since.`,
    );
  }
}

function checksum(sql: string): string {
  return new Bun.CryptoHasher("sha256").update(sql).digest("hex");
}

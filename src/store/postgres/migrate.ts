import { type MigrationState, SchemaError } from "../sqlite/migrate.ts";
import type { Driver } from "./driver.ts";
import { MIGRATIONS } from "./migrations.ts";
import { type Session, statement } from "./session.ts";

/** Held while migrations are applied, so that one process does it. */
const LOCK = 0x73766331;

interface Applied {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

const APPLIED = statement<Applied>("select number, name, checksum from schema_migration order by number");
const CREATE_LOG = statement(
  `create table if not exists schema_migration (
     number bigint primary key, name text not null, checksum text not null, applied_at bigint not null)`,
);
const NOTE = statement<never, [number: number, name: string, checksum: string]>(
  "insert into schema_migration values ($1, $2, $3, extract(epoch from clock_timestamp()) * 1000)",
);
/** The row of the whole move has no name. */
const UNFINISHED_MOVE = statement("select 1 as found from move_progress where name = '' and is_done = 0");
const FOREIGN = statement<{ name: string }>(
  `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' limit 1`,
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
 * Applies the pending migrations in one transaction. One process does it, others wait for it.
 *
 * @returns the names of those applied now
 * @throws SchemaError as `readMigrationState` does, and for a database that has tables of something else
 */
export async function applyMigrations(driver: Driver): Promise<string[]> {
  if ((await readMigrationState(driver)).pending.length === 0) return [];
  const transaction = await driver.begin();
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

/** The oldest that has `pg_current_xact_id`, `xid8` and `gen_random_uuid` (https://www.postgresql.org/docs/release/13.0/, checked 2026-11-27). */
const OLDEST_SERVER = 130_000;

const SERVER = statement<{ version: number; shown: string; encoding: string; standby: 0 | 1 }>(
  `select current_setting('server_version_num')::bigint as version, current_setting('server_version') as shown,
     current_setting('server_encoding') as encoding, pg_is_in_recovery()::int as standby`,
);

/** @throws Error for a database that the service cannot be served from, and says what to do */
export async function requireFit(session: Session): Promise<void> {
  const server = await SERVER.get(session);
  if (server === undefined) throw new Error("The database said nothing of itself.");
  if (server.version < OLDEST_SERVER)
    throw new Error(`PostgreSQL ${server.shown} is too old: 13 or later is needed.`);
  if (server.encoding !== "UTF8")
    throw new Error(
      `The database's encoding is ${server.encoding}. Make one for svc: create database svc encoding 'UTF8' template template0`,
    );
  if (server.standby === 1)
    throw new Error(
      "The database is a standby, which cannot be written. Name the primary server, where its name may stand for either.",
    );
}

/** A database without our log and with tables belongs to something else. */
async function refuseForeign(session: Session): Promise<void> {
  const table = await FOREIGN.get(session);
  if (table === undefined) return;
  throw new SchemaError(
    "foreign",
    `The database has a table "${table.name}" and none of this program's. Give a database, or a schema, of its own.`,
  );
}

async function appliedMigrations(session: Session): Promise<Applied[]> {
  // A statement that failed would end a transaction.
  const [found] = (await session.ask("select to_regclass('schema_migration') is not null as found", [])).rows;
  return found?.found === true ? APPLIED.all(session) : [];
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

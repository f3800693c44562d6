import { mkdtempSync, rmSync } from "node:fs";
import { SQL } from "bun";
import { type Connection, connectionBy, openConnection } from "../../src/store/postgres/connection.ts";
import { openDriver } from "../../src/store/postgres/driver.ts";
import { applyMigrations } from "../../src/store/postgres/migrate.ts";
import { HAS_POSTGRES, startPostgres } from "../moving/database-servers.ts";

/** A server that is there already, for tests: its user may create databases. */
const GIVEN = process.env.SVC_TEST_POSTGRES;
/** Whether there is a server to test with. */
export const CAN_TEST_POSTGRES = GIVEN !== undefined || HAS_POSTGRES;
/** Settings of a server for tests. Autovacuum may come at any time: its statistics change plans, and its transactions hold up seals. */
export const SETTINGS = ["autovacuum=off"];
/** Whether that server is removed with all of its databases once every test file has run. */
export const IS_REMOVED_LATER = process.env.SVC_TEST_POSTGRES_IS_REMOVED === "true";

/** `pg` runs the same tests with the other client. */
const CLIENT = process.env.SVC_TEST_POSTGRES_CLIENT;
/** As many connections as a node has unless it is told otherwise. */
const MOST_KEPT = 10;

/** A database of this process, with all tables. Connections to it are kept: to open a dozen takes longer than most tests. */
export interface TestDatabase {
  /** Its address, as a service has it. */
  readonly url: string;
  /** The same for other clients. */
  readonly plainUrl: string;
  /** What it answers to statements, which see one moment. */
  ask(...statements: readonly string[]): Promise<Record<string, unknown>[]>;
  /** Removes all rows. */
  empty(): Promise<void>;
  /** For a store. It listens by itself, and leaves the others open when it stops. */
  connection(): Connection;
  /** Closes what is open, and removes the database. */
  stop(): Promise<void>;
}

/** @param name of the database, for which each process has its own @param first statements once its tables are there */
export async function openTestDatabase(name: string, ...first: readonly string[]): Promise<TestDatabase> {
  const { url, stop } = GIVEN === undefined ? await startedDatabase(name) : await databaseOn(GIVEN, name);
  const kept = openDriver({ url, most: MOST_KEPT });
  const { href: plainUrl } = Object.assign(new URL(url), { search: "" });
  const asking = prepareAsk(plainUrl);
  await asking.ask(...first);
  return {
    ...{ url, plainUrl },
    ask: asking.ask,
    empty: async () => void (await asking.ask(EMPTY)),
    connection() {
      const { listen, listenAnew, close } = openDriver({ url, most: 1 });
      return connectionBy({ ...kept, listen, listenAnew, close }, { url });
    },
    async stop() {
      await asking.close();
      await kept.close();
      await stop();
    },
  };
}

/** Asks on a connection of its own. */
function prepareAsk(url: string) {
  let sql: SQL | undefined;
  const close = async () => {
    const ended = sql?.close();
    sql = undefined;
    await ended;
  };
  const all = async (statements: readonly string[]) => {
    sql ??= new SQL({ url, max: 1 });
    const [only = "", ...others] = statements;
    if (others.length === 0) return [...(await sql.unsafe(only))];
    return sql.begin(async (transaction) => {
      const rows: Record<string, unknown>[] = [];
      for (const statement of statements) rows.push(...(await transaction.unsafe(statement)));
      return rows;
    });
  };
  return {
    close,
    async ask(...statements: readonly string[]): Promise<Record<string, unknown>[]> {
      if (statements.length === 0) return [];
      try {
        return await all(statements);
      } catch (error) {
        if (!isCut(error)) throw error;
        // A test has cut off every connection.
        await close();
        return all(statements);
      }
    },
  };
}

const isCut = (error: unknown) =>
  error instanceof SQL.PostgresError &&
  (error.code === "ERR_POSTGRES_CONNECTION_CLOSED" || error.errno === "57P01");

type Prepared = Pick<TestDatabase, "url" | "stop">;

async function startedDatabase(name: string): Promise<Prepared> {
  const folder = mkdtempSync("/tmp/svc-postgres-");
  const server = await startPostgres(folder, { settings: SETTINGS });
  const url = await migrated(await server.newDatabase(), name);
  return {
    url,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function databaseOn(server: string, name: string): Promise<Prepared> {
  const own = `${name}_${process.pid}`;
  return {
    url: await migrated(server, own),
    stop: () => once(server, `drop database if exists ${own} with (force)`),
  };
}

/** A database that orders texts as dictionaries do, where the server can: whatever goes by the order of ids must not notice. */
async function migrated(server: string, name: string): Promise<string> {
  const create = `create database ${name} encoding 'UTF8' template template0`;
  await once(server, `drop database if exists ${name} with (force)`);
  await once(server, `${create} locale_provider icu icu_locale 'en-US'`).catch(() => once(server, create));
  const { href } = Object.assign(new URL(server), { pathname: `/${name}` });
  const url = CLIENT === undefined ? href : `${href}?client=${CLIENT}`;
  const connection = openConnection({ url });
  await applyMigrations(connection.driver);
  await connection.stop();
  return url;
}

async function once(url: string, statement: string): Promise<void> {
  const sql = new SQL({ url, max: 1 });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.close();
  }
}

/**
 * Statements that empty all tables and count from 1 again. Rows are deleted, which takes a tenth of the time of `truncate` where there are
 * few; triggers that keep rows, and references, do not see it.
 */
const EMPTY = `do $$ declare
  name text;
  is_full boolean;
begin
  perform set_config('session_replication_role', 'replica', true);
  for name in select quote_ident(relname) from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_migration'
  loop
    execute 'select exists (select 1 from ' || name || ')' into is_full;
    if is_full then execute 'delete from ' || name; end if;
  end loop;
  perform setval(format('%I.%I', schemaname, sequencename), 1, false)
    from pg_sequences where schemaname = 'public' and last_value is not null;
end $$`;

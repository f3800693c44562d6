import { mkdtempSync, rmSync } from "node:fs";
import { SQL } from "bun";
import { openConnection } from "../../src/store/postgres/connection.ts";
import { applyMigrations } from "../../src/store/postgres/migrate.ts";
import { openStore } from "../../src/store/postgres/open.ts";
import { HAS_POSTGRES, startPostgres } from "../moving/database-servers.ts";
import { countingTokens } from "./store.ts";

/** A server that is there already, for tests: its user may create databases. */
const GIVEN = process.env.SVC_TEST_POSTGRES;
/** Whether there is a server to test with. */
export const CAN_TEST_POSTGRES = GIVEN !== undefined || HAS_POSTGRES;

interface Prepared {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** `pg` runs the same tests with the other client. */
const CLIENT = process.env.SVC_TEST_POSTGRES_CLIENT;
/** An address as the service has it. */
const ours = (url: string) => (CLIENT === undefined ? url : `${url}?client=${CLIENT}`);

let prepared: Promise<Prepared> | undefined;

/** A database of this process, with all tables. */
function migratedDatabase(): Promise<Prepared> {
  prepared ??= GIVEN === undefined ? startedDatabase() : databaseOn(GIVEN);
  return prepared;
}

/** A connection to that database for statements between tests: to open one takes as long as many statements. */
let between: SQL | undefined;

async function askBetween(statement: string): Promise<Record<string, unknown>[]> {
  const { url } = await migratedDatabase();
  between ??= new SQL({ url, max: 1 });
  return [...(await between.unsafe(statement))];
}

/** What that database answers to a statement. */
export async function askPostgres(statement: string): Promise<Record<string, unknown>[]> {
  try {
    return await askBetween(statement);
  } catch (error) {
    if (!isCut(error)) throw error;
    // A test has cut off every connection.
    await endBetween();
    return askBetween(statement);
  }
}

const isCut = (error: unknown) =>
  error instanceof SQL.PostgresError &&
  (error.code === "ERR_POSTGRES_CONNECTION_CLOSED" || error.errno === "57P01");

async function endBetween(): Promise<void> {
  const ended = between?.close();
  between = undefined;
  await ended;
}

/** Ends what `openEmptyPostgres` has begun. Each test file that uses it calls this after all of its tests. */
export async function stopPostgres(): Promise<void> {
  await endBetween();
  const { stop } = (await prepared) ?? {};
  prepared = undefined;
  await stop?.();
}

async function startedDatabase(): Promise<Prepared> {
  const folder = mkdtempSync("/tmp/svc-postgres-");
  const server = await startPostgres(folder);
  const { href } = await newDatabase(await server.newDatabase(), "svc_test");
  await migrate(href);
  return {
    url: href,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function databaseOn(server: string): Promise<Prepared> {
  const name = `svc_test_${process.pid}`;
  const { href } = await newDatabase(server, name);
  await migrate(href);
  return { url: href, stop: () => once(server, `drop database if exists ${name} with (force)`) };
}

/** A database that orders texts as dictionaries do, where the server can: whatever goes by the order of ids must not notice. */
async function newDatabase(server: string, name: string): Promise<URL> {
  const create = `create database ${name} encoding 'UTF8' template template0`;
  await once(server, `drop database if exists ${name} with (force)`);
  await once(server, `${create} locale_provider icu icu_locale 'en-US'`).catch(() => once(server, create));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url;
}

async function migrate(url: string): Promise<void> {
  const connection = openConnection({ url: ours(url) });
  await applyMigrations(connection.driver);
  await connection.stop();
}

async function once(url: string, ...statements: readonly string[]): Promise<void> {
  const sql = new SQL({ url, max: 1 });
  try {
    for (const statement of statements) await sql.unsafe(statement);
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

/** The address of the database of this process. */
export async function urlOfPostgres(): Promise<string> {
  return ours((await migratedDatabase()).url);
}

/** A store with no rows, on the database of this process: one at a time. Its leases count from `lease-1` unless other ids are given. */
export async function openEmptyPostgres(ids = countingTokens()) {
  const { url } = await migratedDatabase();
  await askPostgres(EMPTY);
  return openStore({ url: ours(url), ids, migrate: false });
}

/** The database of this process, empty. */
export async function emptyPostgres(): Promise<string> {
  const { url } = await migratedDatabase();
  await askPostgres(EMPTY);
  return ours(url);
}

/** Runs `body` while a transaction of that database is open in which a statement ran. */
export async function inTransaction(statement: string, body: () => Promise<void>): Promise<void> {
  const { url } = await migratedDatabase();
  const sql = new SQL({ url, max: 1 });
  try {
    await sql.begin(async (transaction) => {
      await transaction.unsafe(statement);
      await body();
    });
  } finally {
    await sql.close();
  }
}

/** One more store on that database, as another node has it. */
export async function openAnotherPostgres(
  ids = countingTokens(),
  isSteady?: () => boolean,
  silent?: () => readonly string[],
) {
  const { url } = await migratedDatabase();
  return openStore({ url: ours(url), ids, isSteady, silent, migrate: false });
}

/**
 * What writes to that database with none of the rules that it keeps: no triggers, no references, and no checks until `restore`, which
 * empties it.
 */
export async function withoutRules() {
  const { url } = await migratedDatabase();
  const checks = `from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace`;
  const add = "'alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)";
  const restoring = await askPostgres(`select format(${add}) as text ${checks}`);
  const dropAll = `do $$ declare each record; begin
    for each in select conrelid::regclass as of, conname as name ${checks} loop
      execute format('alter table %s drop constraint %I', each.of, each.name);
    end loop; end $$`;
  let areThere = true;
  return {
    url,
    async run(...statements: readonly string[]) {
      const first = areThere ? [dropAll] : [];
      areThere = false;
      await once(url, ...first, "set session_replication_role = replica", ...statements);
    },
    async restore() {
      await askPostgres(EMPTY);
      if (!areThere) await once(url, ...restoring.map(({ text }) => String(text)));
      areThere = true;
    },
  };
}

export type PostgresStore = Awaited<ReturnType<typeof openEmptyPostgres>>;

/** Runs `body` with two nodes on one empty database. */
export function withNodes(body: (one: PostgresStore, other: PostgresStore) => Promise<void>) {
  return async () => {
    const stores = [await openEmptyPostgres(), await openAnotherPostgres()] as const;
    try {
      await body(...stores);
    } finally {
      for (const store of stores) await store.stop();
    }
  };
}

/** As many calls as told, by turns on several nodes, all at once. */
export function onBoth<T>(
  stores: readonly PostgresStore[],
  count: number,
  call: (store: PostgresStore, i: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => call(stores[i % stores.length]!, i)));
}

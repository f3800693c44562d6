import { SQL } from "bun";
import { openStore, openStoreOn } from "../../src/store/postgres/open.ts";
import { IS_REMOVED_LATER, openTestDatabase, type TestDatabase } from "./postgres-database.ts";
import { countingTokens } from "./store.ts";

const DROP_CHECKS = `do $$ declare each record; begin
  for each in select conrelid::regclass as of, conname as name
    from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace
  loop
    execute format('alter table %s drop constraint %I', each.of, each.name);
  end loop; end $$`;

let usual: Promise<TestDatabase> | undefined;
let unruled: Promise<TestDatabase> | undefined;

/** The database of this process. */
function database(): Promise<TestDatabase> {
  usual ??= openTestDatabase("svc_test");
  return usual;
}

/** What the database of this process answers to a statement. */
export async function askPostgres(statement: string): Promise<Record<string, unknown>[]> {
  return (await database()).ask(statement);
}

/** Ends what these functions have begun. Each test file that uses one calls this after all of its tests. */
export async function stopPostgres(): Promise<void> {
  // The next file of this process goes on with it.
  if (!IS_REMOVED_LATER) await removePostgres();
}

/** For files in which it matters what the server has noted of earlier rows, or that leave much to note: has the next one begin anew. */
export async function removePostgres(): Promise<void> {
  const opened = [await usual, await unruled];
  usual = unruled = undefined;
  for (const each of opened) await each?.stop();
}

/** The address of the database of this process. */
export async function urlOfPostgres(): Promise<string> {
  return (await database()).url;
}

/** A store with no rows, on the database of this process: one at a time. Its leases count from `lease-1` unless other ids are given. */
export async function openEmptyPostgres(ids = countingTokens()) {
  return storeOn(await database(), ids);
}

async function storeOn(on: TestDatabase, ids = countingTokens(), connection = on.connection()) {
  await on.empty();
  return openStoreOn(connection, { ids, migrate: false });
}

/** The database of this process, empty. */
export async function emptyPostgres(): Promise<string> {
  const { url, empty } = await database();
  await empty();
  return url;
}

/** Runs `body` while a transaction of that database is open in which a statement ran. */
export async function inTransaction(statement: string, body: () => Promise<void>): Promise<void> {
  const { plainUrl } = await database();
  const sql = new SQL({ url: plainUrl, max: 1 });
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
  return openStore({ url: await urlOfPostgres(), ids, isSteady, silent, migrate: false });
}

/** A store with no rows, on a database that checks nothing, and what writes there with no triggers and no references either. */
export async function openUnruledPostgres() {
  unruled ??= openTestDatabase("svc_test_unruled", DROP_CHECKS);
  const on = await unruled;
  const connection = on.connection();
  return {
    url: on.url,
    connection,
    store: await storeOn(on, undefined, connection),
    tamper: async (...statements: readonly string[]) =>
      void (await on.ask("set local session_replication_role = replica", ...statements)),
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

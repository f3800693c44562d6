import type { Driver } from "./driver.ts";
import { MIGRATIONS } from "./migrations.ts";
import { type Session, statement } from "./session.ts";

/**
 * The oldest version with `pg_current_xact_id`, `xid8` and `gen_random_uuid` (https://www.postgresql.org/docs/release/13.0/,
 * checked 2026-11-27).
 */
const OLDEST_SERVER = 130_000;

interface Server {
  readonly version: number;
  readonly shown: string;
  readonly encoding: string;
  readonly schema: string | null;
  readonly is_standby: 0 | 1;
  readonly is_read_only: 0 | 1;
  readonly has_settings: 0 | 1;
}

// What ends a transaction that its process has left alone is set by each connection (`connectionSettings`).
const SERVER = statement<Server>(
  `select current_setting('server_version_num')::bigint as version, current_setting('server_version') as shown,
     current_setting('server_encoding') as encoding, current_schema()::text as schema, pg_is_in_recovery()::int as is_standby,
     (current_setting('transaction_read_only') = 'on')::int as is_read_only,
     (current_setting('idle_in_transaction_session_timeout') <> '0')::int as has_settings`,
);
const BACKEND = statement<{ pid: number }>("select pg_backend_pid() as pid");
/** An idle pooler returns the connection that was used last; a busy one returns any. */
const LOOKS = 4;

const right = (kind: string, of: string, rights: readonly string[]) =>
  rights.map(
    (each) => `case when relkind = '${kind}' and not has_${of}_privilege(oid, '${each}') then '${each}' end`,
  );
const RIGHTS = [
  ...right("r", "table", ["select", "insert", "update", "delete"]),
  ...right("S", "sequence", ["select", "usage"]),
];
const LACKING = statement<{ name: string; lacks: string }, [names: readonly string[]]>(
  `select relname as name, concat_ws(', ', ${RIGHTS.join(", ")}) as lacks
   from pg_class where relnamespace = current_schema()::regnamespace and relname = any($1::text[]) order by relname`,
);

/** @throws Error if the service cannot be served from the database; it says what to do */
export async function requireFit(driver: Pick<Driver, "ask" | "aside">): Promise<void> {
  const server = await SERVER.get(driver);
  if (server === undefined) throw new Error("The database said nothing of itself.");
  const problem = problemOf(server);
  if (problem !== undefined) throw new Error(problem);
  await requireOwnSessions(driver);
}

function problemOf(server: Server): string | undefined {
  if (server.version < OLDEST_SERVER) return `PostgreSQL ${server.shown} is too old: 13 or later is needed.`;
  if (server.encoding !== "UTF8")
    return `The database's encoding is ${server.encoding}. Make one for svc: create database svc encoding 'UTF8' template template0`;
  if (server.is_standby === 1)
    return "The database is a standby, which cannot be written. Name the primary server, where its name may stand for either.";
  if (server.is_read_only === 1)
    return "The database is read-only: default_transaction_read_only is on, of the server, the database or its user. Switch it off, or name a server that takes writes.";
  if (server.schema === null)
    return "The database has no schema that its user may see. Make one, or set search_path of the user to one that is there.";
  if (server.has_settings === 0) return WITHOUT_SETTINGS;
  return undefined;
}

/** What a pooler needs that does not pass on what connections are set to. */
export const WITHOUT_SETTINGS =
  "A pooler before the database does not pass on what connections are set to. Name the server itself; or use pool_mode = session with ignore_startup_parameters = idle_in_transaction_session_timeout,jit,options in PgBouncer, and give its user the settings: alter role NAME set idle_in_transaction_session_timeout = '5s', and: alter role NAME set jit = off";

/**
 * Statements that are prepared, and notifications that are listened to, belong to a connection of the server. A pooler that
 * shares one among several of ours would lose them, and the loss would not show at once.
 *
 * @throws Error if the same process of the server answered connections of different pools
 */
async function requireOwnSessions(driver: Pick<Driver, "ask" | "aside">): Promise<void> {
  const main = new Set<number | undefined>();
  for (let look = 0; look < LOOKS; look++) {
    main.add((await BACKEND.get(driver))?.pid);
    if (main.has((await BACKEND.get(driver.aside))?.pid)) throw new Error(SHARED);
  }
}

const SHARED =
  "A pooler before the database gives one connection to several in turns, which loses prepared statements and notifications. Use its session mode (in PgBouncer pool_mode = session), or name the server itself.";

/** @throws Error that says which rights on our tables the user lacks */
export async function requireRights(session: Session): Promise<void> {
  const lacking = (await LACKING.all(session, namesOf(MIGRATIONS))).filter(({ lacks }) => lacks !== "");
  const [first] = lacking;
  if (first === undefined) return;
  const others = lacking.length > 1 ? `, and some on ${lacking.length - 1} more` : "";
  throw new Error(
    `The database's user lacks rights on "${first.name}": ${first.lacks}${others}. Make it the owner of all tables, or grant them: grant select, insert, update, delete on all tables in schema NAME to USER; grant usage, select on all sequences in schema NAME to USER`,
  );
}

/** The tables and sequences that migrations create. */
export function namesOf(migrations: readonly { readonly sql: string }[]): string[] {
  const made = /create (?:table|sequence) (?:if not exists )?(?:"public"\.)?"([a-z_]+)"/gi;
  return [
    ...migrations.flatMap(({ sql }) => [...sql.matchAll(made)].map(([, name = ""]) => name)),
    "schema_migration",
  ];
}

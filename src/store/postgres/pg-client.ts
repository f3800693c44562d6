import type { Socket } from "node:net";
import pg from "pg";
import { StorageError } from "../../domain/ports/task-store.ts";
import { type PostgresAddress, readPostgresAddress } from "../../toolkit/postgres-address.ts";
import { certificatesOf } from "./certificates.ts";
import {
  type Client,
  type ClientOptions,
  CONNECT_SECONDS,
  checkEnd,
  connectionSettings,
  MOST_ASIDE,
} from "./client.ts";
import { type DisposablePool, limited } from "./deadline.ts";
import { offersTls } from "./offers-tls.ts";
import { createPgListener } from "./pg-listener.ts";
import type { Answer, Parameter } from "./session.ts";

/** Connects with node-postgres. Nothing is sent before the first statement. */
export function openPgClient({ url, most, deadlineMs }: ClientOptions): Client {
  const address = readPostgresAddress(url);
  const [main, aside] = [most, MOST_ASIDE].map((max) => limited(poolOn(address, max), deadlineMs)) as [
    DisposablePool,
    DisposablePool,
  ];
  const listener = createPgListener(async () => new pg.Client(await optionsOf(address)));
  return {
    main,
    aside,
    listen: listener.listen,
    listenAnew: listener.listenAnew,
    renew: (pool) => ({ main, aside })[pool].throwAway(),
    async close() {
      await Promise.all([listener.stop(), main.close(), aside.close()]);
    },
  };
}

async function optionsOf(address: PostgresAddress): Promise<pg.ClientConfig> {
  const { host, port, user, password, database, connectSeconds, sslmode } = address;
  const { application_name, ...settings } = connectionSettings(address);
  const isSecure =
    sslmode !== "disable" &&
    !host.startsWith("/") &&
    (!isUndecided(address) || (await offersTls(host, port)));
  return {
    ...{ host, port, user, database, application_name },
    // An empty value, because otherwise the client reads variables and files.
    password: password ?? "",
    ssl: isSecure && tlsOf(address),
    connectionTimeoutMillis: (connectSeconds ?? CONNECT_SECONDS) * 1000,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
    types: { getTypeParser: parserOf as pg.CustomTypesConfig["getTypeParser"] },
  };
}

/** Whether the server decides if TLS is used. */
function isUndecided({ sslmode, host }: PostgresAddress): boolean {
  return sslmode === "prefer" && !host.startsWith("/");
}

function tlsOf(address: PostgresAddress): NonNullable<pg.ClientConfig["ssl"]> {
  const { sslmode, host } = address;
  const isChecked = sslmode === "verify-ca" || sslmode === "verify-full";
  return {
    ...certificatesOf(address),
    rejectUnauthorized: isChecked,
    // Node checks the host's name, which `verify-ca` leaves out.
    ...(sslmode !== "verify-full" && { checkServerIdentity: () => undefined }),
    ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
  };
}

function poolOn(address: PostgresAddress, max: number): DisposablePool {
  const open = new Set<pg.PoolClient>();
  const connecting = optionsOf(address).then((options) => {
    /**
     * This contains the limit for connecting. The pool would apply its own limit also to the time in which all its connections
     * are busy.
     */
    class PoolClient extends pg.Client {
      constructor() {
        super(options);
        if (isUndecided(address)) decideAtConnect(this, address);
      }
    }
    const pooled = { ...options, connectionTimeoutMillis: 0 };
    const made = new pg.Pool({ ...pooled, Client: PoolClient, max, idleTimeoutMillis: 0 });
    made.on("connect", (client) => void open.add(client));
    made.on("remove", (client) => void open.delete(client));
    // If a connection is lost while nobody uses it, a new one is opened.
    made.on("error", () => {});
    return made;
  });
  // Who asks is told.
  connecting.catch(() => {});
  return {
    throwAway() {
      for (const client of open) destroy(client);
    },
    close: async () => (await connecting.catch(() => undefined))?.end(),
    ask: async (text, parameters) => ask(await connecting, text, parameters),
    async begin() {
      const client = await away(async () => (await connecting).connect());
      const lost = () => {};
      client.on("error", lost);
      const { query } = inTurn(client);
      const begun = query("begin");
      // Later statements wait for it, and fail if it fails.
      begun.catch(() => {});
      const end = async (word: "commit" | "rollback") => {
        let broken: Error | undefined;
        try {
          checkEnd(word, (await away(() => query(word))).command);
        } catch (error) {
          broken = error instanceof StorageError ? error : undefined;
          throw error;
        } finally {
          client.off("error", lost);
          client.release(broken);
        }
      };
      return {
        ask: (text, parameters) => ask({ query }, text, parameters),
        commit: () => end("commit"),
        rollback: () => end("rollback"),
      };
    },
  };
}

/**
 * Has a client of a pool ask whether its server supports TLS when it connects. The server may have been away before, be another one by now,
 * or support it since.
 */
function decideAtConnect(client: pg.Client, address: PostgresAddress): void {
  const connectAs: () => Promise<unknown> = client.connect.bind(client);
  const connect = async () => {
    const ssl = (await offersTls(address.host, address.port)) && tlsOf(address);
    // Safe: a client and its connection read this when they connect; their types leave it out.
    const { connection } = Object.assign(client as unknown as { connection: object }, { ssl });
    Object.assign(connection, { ssl });
    await connectAs();
  };
  const connectFor = (callback: (error?: Error) => void) => void connect().then(() => callback(), callback);
  Object.assign(client, { connect: connectFor });
}

/** Closes a connection without a message to a server that may not receive it. */
function destroy(client: pg.PoolClient): void {
  // Safe: each client has a connection, which its types leave out.
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
}

interface Queried {
  query(given: string | pg.QueryConfig): Promise<pg.QueryResult>;
}

/** A connection that is asked again once it has answered. */
function inTurn(client: pg.PoolClient): Queried {
  let last: Promise<unknown> = Promise.resolve();
  return {
    query(given) {
      const next = () => client.query(given);
      const answer = last.then(next, next);
      last = answer;
      return answer;
    },
  };
}

/** Names of statements that are prepared, by their texts. */
const names = new Map<string, string>();

async function ask(on: Queried, text: string, parameters: readonly Parameter[]): Promise<Answer> {
  // A text without parameters may have several statements.
  const given =
    parameters.length === 0
      ? text
      : {
          text,
          values: [...parameters],
          name: names.getOrInsertComputed(text, () => `svc_${names.size + 1}`),
        };
  const result: pg.QueryResult | pg.QueryResult[] = await away(() => on.query(given));
  const last = Array.isArray(result) ? result.at(-1) : result;
  return { rows: last?.rows ?? [], count: last?.rowCount ?? 0 };
}

/** Runs a call of the client. Any error that is no answer of the server means that the server is not reachable. */
async function away<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof pg.DatabaseError || error instanceof StorageError) throw error;
    throw new StorageError("away", "The database server is away.", error);
  }
}

const { builtins } = pg.types;
/** Every `bigint` of a table of ours is a whole number that a double holds exactly. */
const NUMBERS = new Set<number>([builtins.INT8, builtins.INT4, builtins.INT2, builtins.OID]);
/** Arrays of `bigint` and of `integer`. */
const NUMBER_ARRAYS = new Set<number>([1016, 1007]);

function parserOf(type: number, format?: "text" | "binary"): (value: string) => unknown {
  if (NUMBERS.has(type)) return Number;
  const parse = pg.types.getTypeParser(type, format ?? "text") as (value: string) => unknown;
  return NUMBER_ARRAYS.has(type) ? (value) => (parse(value) as unknown[]).map(numberOrNull) : parse;
}

const numberOrNull = (value: unknown) => (value === null ? null : Number(value));

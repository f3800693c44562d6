import { SQL } from "bun";
import { bracketed, type PostgresAddress, readPostgresAddress } from "../../toolkit/postgres-address.ts";
import { certificatesOf } from "./certificates.ts";
import {
  type Client,
  type ClientOptions,
  CONNECT_SECONDS,
  checkEnd,
  connectionSettings,
  type Listening,
  MOST_ASIDE,
} from "./client.ts";
import { type DisposablePool, limited } from "./deadline.ts";
import type { Answer, Parameter } from "./session.ts";

/** Connects with Bun's own client. Nothing is sent before the first statement. */
export function openBunClient({ url, most, deadlineMs }: ClientOptions): Client {
  const address = readPostgresAddress(url);
  const open = (max: number) => new SQL({ ...optionsOf(address), max, bigint: true });
  const [main, aside] = [most, MOST_ASIDE].map((max) =>
    limited(
      poolOn(() => open(max)),
      deadlineMs,
    ),
  ) as [DisposablePool, DisposablePool];
  const listener = createBunListener(() => open(1));
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

/** Listens on a connection of its own. Bun opens a new one if it is lost. */
function createBunListener(open: () => SQL): Listening & { stop(): Promise<void> } {
  const all: Parameters<Listening["listen"]>[] = [];
  let ears: SQL | undefined;
  const listenOn = async (...[channel, tell, again]: Parameters<Listening["listen"]>) => {
    ears ??= open();
    await ears.listen(channel, tell, again);
  };
  return {
    async listen(...given) {
      await listenOn(...given);
      all.push(given);
    },
    async listenAnew() {
      void ears?.close({ timeout: 0 }).catch(() => {});
      ears = undefined;
      await Promise.all(all.map((given) => listenOn(...given)));
    },
    async stop() {
      await ears?.close({ timeout: 0 });
    },
  };
}

/** Every option is given, because Bun would read missing ones from environment variables. */
function optionsOf(address: PostgresAddress): SQL.PostgresOrMySQLOptions {
  const { host, port, user, password = "", database, sslmode, connectSeconds } = address;
  return {
    ...{ adapter: "postgres", port, username: user, password, database },
    // Only the mode: a mode in `tls` cannot be combined with files.
    url: `postgres://${host.startsWith("/") ? "localhost" : bracketed(host)}:${port}/?sslmode=${sslmode}`,
    hostname: host,
    tls: tlsOf(address),
    connectionTimeout: connectSeconds ?? CONNECT_SECONDS,
    connection: connectionSettings(address),
  };
}

function tlsOf(address: PostgresAddress): SQL.PostgresOrMySQLOptions["tls"] {
  const certificates = certificatesOf(address);
  // Certificates require the mode of the URL, or at least "require".
  return Object.keys(certificates).length > 0 ? certificates : address.sslmode;
}

function poolOn(open: () => SQL): DisposablePool {
  let sql = open();
  return {
    throwAway() {
      const lost = sql;
      sql = open();
      // It fails, whatever waits on it.
      void lost.close({ timeout: 0 }).catch(() => {});
    },
    close: () => sql.close({ timeout: 0 }),
    ask: (text, parameters) => ask(sql, text, parameters),
    async begin() {
      const reserved = await sql.reserve();
      // Bun prepares a template and sends it together with the statements that follow, which fail if it fails. A statement
      // through `unsafe` without parameters is sent alone, and later statements wait for its answer (seen on Bun 1.4.5).
      reserved`begin`.catch(() => {});
      const words = { commit: () => reserved`commit`, rollback: () => reserved`rollback` };
      const end = async (word: "commit" | "rollback") => {
        try {
          checkEnd(word, (await words[word]()).command);
        } finally {
          reserved.release();
        }
      };
      return {
        ask: (text, parameters) => ask(reserved, text, parameters),
        commit: () => end("commit"),
        rollback: () => end("rollback"),
      };
    },
  };
}

async function ask(sql: SQL, text: string, parameters: readonly Parameter[]): Promise<Answer> {
  const rows = await sql.unsafe(text, parameters as unknown[]);
  for (const row of rows) toNumbers(row);
  return { rows, count: rows.count ?? 0 };
}

/** Every `bigint` of a table of ours is a whole number that a double holds exactly. */
function toNumbers(row: Record<string, unknown>): void {
  for (const name in row) {
    const value = row[name];
    if (typeof value === "bigint") row[name] = Number(value);
  }
}

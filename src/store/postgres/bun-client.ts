import { SQL } from "bun";
import { bracketed, type PostgresAddress, readPostgresAddress } from "../../toolkit/postgres-address.ts";
import { certificatesOf } from "./certificates.ts";
import {
  type Client,
  type ClientOptions,
  CONNECT_SECONDS,
  checkEnd,
  connectionSettings,
  MOST_ASIDE,
  type Pool,
} from "./client.ts";
import type { Answer, Parameter } from "./session.ts";

/** Connects with Bun's own client. Nothing is sent before the first statement. */
export function openBunClient({ url, most }: ClientOptions): Client {
  const address = readPostgresAddress(url);
  const open = (max: number) => new SQL({ ...optionsOf(address), max, bigint: true });
  const [main, aside] = [open(most), open(MOST_ASIDE)];
  return {
    main: poolOn(main),
    aside: poolOn(aside),
    async listen(channel, tell, again) {
      await main.listen(channel, tell, again);
    },
    async close() {
      await Promise.all([main.close({ timeout: 0 }), aside.close({ timeout: 0 })]);
    },
  };
}

/** Every option is given, because what is not would be read from variables of the environment. */
function optionsOf(address: PostgresAddress): SQL.PostgresOrMySQLOptions {
  const { host, port, user, password = "", database, sslmode, connectSeconds } = address;
  return {
    ...{ adapter: "postgres", port, username: user, password, database },
    // The mode alone: one that is given in `tls` cannot be had together with files.
    url: `postgres://${host.startsWith("/") ? "localhost" : bracketed(host)}:${port}/?sslmode=${sslmode}`,
    hostname: host,
    tls: tlsOf(address),
    connectionTimeout: connectSeconds ?? CONNECT_SECONDS,
    connection: connectionSettings(address),
  };
}

function tlsOf(address: PostgresAddress): SQL.PostgresOrMySQLOptions["tls"] {
  const certificates = certificatesOf(address);
  // Certificates ask for the mode of the URL, or at least for "require".
  return Object.keys(certificates).length > 0 ? certificates : address.sslmode;
}

function poolOn(sql: SQL): Pool {
  return {
    ask: (text, parameters) => ask(sql, text, parameters),
    async begin() {
      const reserved = await sql.reserve();
      // Bun prepares a template, and sends it beside what follows, which fails where it failed. What comes through `unsafe` without
      // parameters goes by itself, and what follows waits for its answer (seen on Bun 1.4.5).
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

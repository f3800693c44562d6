import { SQL } from "bun";
import type { Answer, Parameter, Session } from "./session.ts";

/** A transaction that has begun. */
export interface Transaction extends Session {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Connections to one database. */
export interface Driver extends Session {
  /** For what a transaction needs while it is open: it has connections of its own, so that it never waits for transactions. */
  readonly aside: Session;
  /** Begins a transaction on a connection of its own. */
  begin(): Promise<Transaction>;
  /** Calls `tell` for each notification, and `again` whenever it listens again after a time in which some may have been lost. */
  listen(channel: string, tell: (payload: string) => void, again: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface DriverOptions {
  readonly url: string;
  /** Connections at once. */
  readonly most: number;
}

const CONNECT_SECONDS = 5;
const MOST_ASIDE = 2;
/** A transaction that its process has left alone for this long is undone, so that its locks hold up no other process. */
const IDLE_IN_TRANSACTION_MS = 5_000;

/** Connects with Bun's own client. Nothing is sent before the first statement. */
export function openDriver({ url, most }: DriverOptions): Driver {
  const pool = (max: number) =>
    new SQL({
      ...{ url, max, bigint: true, connectionTimeout: CONNECT_SECONDS },
      connection: {
        application_name: "svc",
        idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
        // Statements read few rows. Compiling one, which the server does where it expects many, would take a thousand times as long.
        jit: "off",
      },
    });
  const [sql, aside] = [pool(most), pool(MOST_ASIDE)];
  return {
    aside: { ask: (text, parameters) => ask(aside, text, parameters) },
    ask: (text, parameters) => ask(sql, text, parameters),
    async begin() {
      const reserved = await sql.reserve();
      const begun = reserved.unsafe("begin");
      // What follows waits for it, and fails where it failed.
      begun.catch(() => {});
      const end = async (word: "commit" | "rollback") => {
        try {
          const { command } = await reserved.unsafe(word);
          // After a statement that failed, a commit undoes everything, and says so in this word alone.
          if (command !== word.toUpperCase()) throw new Error("The transaction was undone, not committed.");
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
    async listen(channel, tell, again) {
      await sql.listen(channel, tell, again);
    },
    async close() {
      await Promise.all([sql.close({ timeout: 0 }), aside.close({ timeout: 0 })]);
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

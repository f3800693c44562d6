import type { PostgresAddress } from "../../toolkit/postgres-address.ts";
import type { Session } from "./session.ts";

/** A transaction that has begun. */
export interface Transaction extends Session {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Connections that several statements share. */
export interface Pool extends Session {
  /** Begins a transaction on a connection of its own. */
  begin(options?: TransactionOptions): Promise<Transaction>;
}

export interface TransactionOptions {
  /** Its statements take longer the more rows there are, so no deadline applies to them. */
  readonly isLong?: boolean;
}

/** Notifications of a channel, and when some may have been lost. */
export interface Listening {
  /**
   * Calls `tell` for each notification, and `again` whenever it resumes listening after a time in which some may have been
   * lost.
   */
  listen(channel: string, tell: (payload: string) => void, again: () => void): Promise<void>;
  /**
   * Closes the connection that listens, which may no longer hear anything, and listens on a new one. @throws the error of the
   * new connection
   */
  listenAnew(): Promise<void>;
}

/** A driver for PostgreSQL's protocol, without any additions. */
export interface Client extends Listening {
  readonly main: Pool;
  /**
   * For statements that a transaction needs while it is open. It has connections of its own, so it never waits for
   * transactions.
   */
  readonly aside: Pool;
  /** Closes all connections of a pool, as if they were lost, and asks where the address leads for new ones. */
  renew(pool: "main" | "aside"): void;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly url: string;
  /** Connections at once. */
  readonly most: number;
  /** How long a statement may have no answer; no limit unless given. */
  readonly deadlineMs?: number | undefined;
}

export const CONNECT_SECONDS = 5;
export const MOST_ASIDE = 2;

/** The settings of each connection. */
export const connectionSettings = ({
  applicationName = "svc",
}: Pick<PostgresAddress, "applicationName">) => ({
  application_name: applicationName,
  /** A transaction that its process has left idle for this long is rolled back, so that its locks delay no other process. */
  idle_in_transaction_session_timeout: 5_000,
  // Statements read few rows. Where the server expects many, it would compile the statement, which takes a thousand times as
  // long.
  jit: "off",
});

/** Checks the answer to the word that ends a transaction. @throws Error after a commit that rolled it back */
export function checkEnd(word: "commit" | "rollback", command: string): void {
  // After a failed statement, a commit rolls everything back, and only this word says so.
  if (command !== word.toUpperCase()) throw new Error("The transaction was undone, not committed.");
}

import type { PostgresAddress } from "../../toolkit/postgres-address.ts";
import type { Session } from "./session.ts";

/** A transaction that has begun. */
export interface Transaction extends Session {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Connections that statements share. */
export interface Pool extends Session {
  /** Begins a transaction on a connection of its own. */
  begin(options?: TransactionOptions): Promise<Transaction>;
}

export interface TransactionOptions {
  /** Its statements take as long as there are rows: no deadline holds for them. */
  readonly isLong?: boolean;
}

/** Notifications of a channel, and when some may have been lost. */
export interface Listening {
  /** Calls `tell` for each notification, and `again` whenever it listens again after a time in which some may have been lost. */
  listen(channel: string, tell: (payload: string) => void, again: () => void): Promise<void>;
  /** Throws the connection away that listens, which may hear nothing any more, and listens on a new one. @throws what that failed by */
  listenAnew(): Promise<void>;
}

/** A program that speaks PostgreSQL's protocol, as it is. */
export interface Client extends Listening {
  readonly main: Pool;
  /** For what a transaction needs while it is open: it has connections of its own, so that it never waits for transactions. */
  readonly aside: Pool;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly url: string;
  /** Connections at once. */
  readonly most: number;
  /** How long a statement may have no answer; as long as it takes unless given. */
  readonly deadlineMs?: number | undefined;
}

export const CONNECT_SECONDS = 5;
export const MOST_ASIDE = 2;

/** What each connection is set to. */
export const connectionSettings = ({
  applicationName = "svc",
}: Pick<PostgresAddress, "applicationName">) => ({
  application_name: applicationName,
  /** A transaction that its process has left alone for this long is undone, so that its locks hold up no other process. */
  idle_in_transaction_session_timeout: 5_000,
  // Statements read few rows. Compiling one, which the server does where it expects many, would take a thousand times as long.
  jit: "off",
});

/** What the word that ends a transaction was answered with. @throws Error after a commit that undid it */
export function checkEnd(word: "commit" | "rollback", command: string): void {
  // After a statement that failed, a commit undoes everything, and says so in this word alone.
  if (command !== word.toUpperCase()) throw new Error("The transaction was undone, not committed.");
}

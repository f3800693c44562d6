import { SQL } from "bun";
import { StorageError } from "../../domain/ports/task-store.ts";

/**
 * Kinds of storage errors by the codes of PostgreSQL (https://www.postgresql.org/docs/15/errcodes-appendix.html, checked
 * 2026-11-27). Codes of class 08, those with which a server ends connections, and those with which it refuses new ones, as after a
 * password was changed, mean that it is not reachable.
 */
const KINDS = [
  ["full", /^(53100|53200)$/, "The database server's disk or memory is full."],
  ["read_only", /^25006$/, "The database is read-only: it is a standby, or was set so."],
  ["busy", /^(40001|40P01|55P03|57014|53300)$/, "The database is busy."],
  ["away", /^(08...|57P..|25P0[34]|28...|3D000)$/, "The database server is away."],
  ["damaged", /^(XX...|58...)$/, "The database or its disk is damaged."],
] as const;

/** Codes of Bun's own errors for a connection that could not be made or was lost. */
const LOST =
  /^ERR_POSTGRES_(CONNECTION_[A-Z_]+|IDLE_TIMEOUT|LIFETIME_TIMEOUT|QUERY_CANCELLED|TLS.*)$|^E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND)$|FailedToOpenSocket|ConnectionClosed|^(ERR_TLS|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|CERT)_/;

/** The five-character code of a PostgreSQL error; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof SQL.PostgresError) return typeof error.errno === "string" ? error.errno : undefined;
  // As node-postgres has it.
  const { code, severity } = error instanceof Error ? (error as { code?: unknown; severity?: unknown }) : {};
  return severity !== undefined && typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Translates a database error into its kind of storage error; undefined for others (a constraint, a defect). */
export function asStorageError(error: unknown): StorageError | undefined {
  if (error instanceof StorageError) return error;
  const state = sqlState(error);
  if (state !== undefined) {
    const known = KINDS.find(([, pattern]) => pattern.test(state));
    return known && new StorageError(known[0], known[2], error);
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return LOST.test(code) ? new StorageError("away", "The database server is away.", error) : undefined;
}

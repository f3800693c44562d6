import { StorageError } from "../../domain/ports/task-store.ts";
import type { PostgresAddress } from "../../toolkit/postgres-address.ts";
import { sqlState } from "./errors.ts";
import { WITHOUT_SETTINGS } from "./fit.ts";

type Place = Pick<PostgresAddress, "host" | "port" | "user" | "database">;

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** A statement that a connection prepared exists already or does not exist: other clients use the same connection. */
const POOLER =
  "a pooler before it gives one connection to several. Use its session mode, or name the server itself.";

/** What is wrong by the code of the server's error, and what to do (https://www.postgresql.org/docs/15/errcodes-appendix.html, checked 2026-11-27). */
const BY_STATE: Readonly<Record<string, (place: Place) => string>> = {
  "28P01": ({ user }) =>
    `it refuses the password of user ${quoted(user)}. Give the right one in its URL, by PGPASSWORD or by a password file.`,
  "28000": ({ user }) => `it does not let user ${quoted(user)} in. See pg_hba.conf of the server.`,
  "3D000": ({ database }) =>
    `it has no such database. Make it: create database ${quoted(database)} encoding 'UTF8' template template0`,
  "42501": ({ user, database }) =>
    `user ${quoted(user)} lacks rights. Make it the owner: alter database ${quoted(database)} owner to ${quoted(user)}, and of the tables and the schema where they belong to another one.`,
  "25006": () =>
    "it is read-only: a standby, or set so by default_transaction_read_only. Name a server that takes writes.",
  "53300": () =>
    "it has no connection left. Lower database_connections, or raise max_connections of the server.",
  "42P05": () => POOLER,
  "26000": () => POOLER,
  "53100": () => "its disk is full. Make room there.",
  "3F000": () => "its user has no schema to make tables in. Make one that search_path of the user names.",
};

/** By the code of an error of the connection. */
const BY_CODE: readonly (readonly [RegExp, string])[] = [
  [
    /ALTNAME/,
    "its certificate is of another host. Name the host as the certificate has it, or use sslmode=verify-ca.",
  ],
  [
    /CERT|UNABLE_TO|SELF_SIGNED/,
    "its certificate comes from nobody known. Give the file of who signed it: sslrootcert=FILE in the URL, or PGSSLROOTCERT.",
  ],
  [/TLS_NOT_AVAILABLE/, "it does not speak TLS, which sslmode asks for."],
];

/**
 * Describes an error at the opening of a database: where it happened, what is wrong, and what to do. The text contains no
 * password.
 *
 * @returns undefined for errors that say this themselves
 */
export function refusal(error: unknown, place: Place): Error | undefined {
  const state = sqlState(error instanceof StorageError ? error.cause : error);
  const cause = error instanceof StorageError && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const message = cause instanceof Error ? cause.message : "";
  // PgBouncer reports it with the code for any violation of the protocol.
  if (/unsupported startup parameter/.test(message)) return new Error(WITHOUT_SETTINGS, { cause: error });
  const known =
    state !== undefined
      ? BY_STATE[state]?.(place)
      : (BY_CODE.find(([pattern]) => pattern.test(code))?.[1] ??
        (/does not support SSL/.test(message) ? BY_CODE[2]?.[1] : undefined));
  const { host, port, database } = place;
  const at = `The database ${quoted(database)} at ${host.startsWith("/") ? host : `${host}:${port}`} cannot be used`;
  if (known !== undefined) return new Error(`${at}: ${known}`, { cause: error });
  if (
    state !== undefined ||
    !(error instanceof StorageError) ||
    error.kind !== "away" ||
    error.cause === undefined
  )
    return undefined;
  return new Error(`${at}: it is not reached (${message}). See that it runs and its address is right.`, {
    cause: error,
  });
}

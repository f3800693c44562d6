import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { AddressError, readPostgresAddress, toPostgresUrl } from "../toolkit/postgres-address.ts";
import type { Parser } from "../toolkit/settings/parsers.ts";
import * as parse from "../toolkit/settings/parsers.ts";
import { createSecret, type Secret } from "../toolkit/settings/secret.ts";
import { setting } from "../toolkit/settings/setting.ts";

const ROLES = ["all", "api", "worker"] as const;
/** What one of several processes does: everything, only the API, or only the work. */
export type Role = (typeof ROLES)[number];

/** Takes the address of a PostgreSQL database, which may have a password. Never show what was given. */
const postgresUrl: Parser<Secret> = parse.withSchema({ type: "string", format: "uri" }, (raw) => {
  if (typeof raw !== "string") return { ok: false, expected: EXPECTED };
  try {
    readPostgresAddress(raw);
    return { ok: true, value: createSecret(raw.trim()) };
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return { ok: false, expected: `${EXPECTED}: it ${error.message}` };
  }
});
const EXPECTED = "the URL of a PostgreSQL database, such as postgres://user:password@db.example.com/svc";

/**
 * A URL with all that PostgreSQL's own variables and the password file say of the database, so that nothing else is read of them later.
 *
 * @throws AddressError that says what of it cannot be used
 */
export function completePostgresUrl(
  raw: string,
  env: Readonly<Record<string, string | undefined>>,
  driver?: PostgresDriver,
): string {
  const passwordLines = (named: string | undefined) => {
    const path = named ?? (env.HOME && join(env.HOME, ".pgpass"));
    return path === undefined || path === "" ? undefined : linesOfSecretFile(path, named !== undefined);
  };
  const address = readPostgresAddress(raw, { env, passwordLines });
  return toPostgresUrl(driver === undefined ? address : { ...address, client: driver });
}

/** @throws AddressError for a file that was named and is not there, and one that others may read */
function linesOfSecretFile(path: string, isNamed: boolean): string[] | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile()) {
    if (isNamed) throw new AddressError(`has a password file that is not there: ${path}`);
    return undefined;
  }
  if ((stat.mode & 0o077) !== 0)
    throw new AddressError(`has a password file that others may read, ${path}; chmod 600 ends that`);
  return readFileSync(path, "utf8").split(/\r?\n/);
}

const DRIVERS = ["bun", "pg"] as const;
/** Which program speaks to the database. */
type PostgresDriver = (typeof DRIVERS)[number];

/** Letters, digits, dots and dashes, as names of machines have. */
const nodeName: Parser<string> = parse.withSchema(
  { type: "string", pattern: "^[A-Za-z0-9.-]{1,63}$" },
  (raw) =>
    typeof raw === "string" && /^[A-Za-z0-9.-]{1,63}$/.test(raw)
      ? { ok: true, value: raw }
      : { ok: false, expected: "1 to 63 letters, digits, dots and dashes" },
);

/** Where tasks, money and keys are stored, and which part of the work this process does. */
export function databaseSettings() {
  return {
    database: setting<Secret | undefined>({
      key: "database",
      flag: "--database <url>",
      help: "PostgreSQL database that several nodes share: postgres://user@host/name; unset: a file in data_dir, for one process. Give a password by SVC_DATABASE, which other users cannot see",
      parse: postgresUrl,
      fallback: undefined,
      fallbackText: "a file in data_dir",
      isSecret: true,
    }),
    databaseDriver: setting<PostgresDriver>({
      key: "database_driver",
      flag: "--database-driver <name>",
      help: "what speaks to a PostgreSQL database: bun, which is built in, or pg, node-postgres, which is slower",
      parse: parse.oneOf(DRIVERS),
      fallback: "bun",
    }),
    databaseConnections: setting<number>({
      key: "database_connections",
      flag: "--database-connections <count>",
      help: "connections of this node to a PostgreSQL database; some more are used beside transactions",
      parse: parse.integer(2, 500),
      fallback: 10,
    }),
    databaseReplica: setting<Secret | undefined>({
      key: "database_replica",
      flag: "--database-replica <url>",
      help: "streaming standby of the PostgreSQL database, which answers operators' lists, usage reports, ledgers and the trail while it is less than ten seconds behind. Give a password by SVC_DATABASE_REPLICA",
      parse: postgresUrl,
      fallback: undefined,
      fallbackText: "the database itself",
      isSecret: true,
    }),
    role: setting<Role>({
      key: "role",
      flag: "--role <role>",
      help: "what this node does: all; api: answers requests and makes nothing; worker: makes what others take in, and answers operators alone. api and worker need a PostgreSQL database",
      parse: parse.oneOf(ROLES),
      fallback: "all",
    }),
    nodeName: setting<string | undefined>({
      key: "node_name",
      flag: "--node-name <name>",
      help: "name of this node in svc nodes list",
      parse: nodeName,
      fallback: undefined,
      fallbackText: "that of the machine",
    }),
  };
}

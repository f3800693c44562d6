import type { Parser } from "../toolkit/settings/parsers.ts";
import * as parse from "../toolkit/settings/parsers.ts";
import { createSecret, type Secret } from "../toolkit/settings/secret.ts";
import { setting } from "../toolkit/settings/setting.ts";

const ROLES = ["all", "api", "worker"] as const;
/** What a process of several does: everything, the API alone, or the work alone. */
export type Role = (typeof ROLES)[number];

/** Takes the address of a PostgreSQL database, which may have a password. Never show what was given. */
const postgresUrl: Parser<Secret> = parse.withSchema({ type: "string", format: "uri" }, (raw) => {
  const url = typeof raw === "string" ? URL.parse(raw.trim()) : null;
  const isDatabase =
    url !== null &&
    /^postgres(?:ql)?:$/.test(url.protocol) &&
    /^\/[^/]+$/.test(url.pathname) &&
    url.hash === "";
  return isDatabase
    ? { ok: true, value: createSecret(url.href) }
    : {
        ok: false,
        expected: "the URL of a PostgreSQL database, such as postgres://user:password@db.example.com/svc",
      };
});

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
    databaseConnections: setting<number>({
      key: "database_connections",
      flag: "--database-connections <count>",
      help: "connections of this node to a PostgreSQL database; some more are used beside transactions",
      parse: parse.integer(2, 500),
      fallback: 10,
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

import { existsSync, statSync } from "node:fs";
import type { Seal } from "../../domain/ports/runtime.ts";
import { type Inspected, type Inspection, openInspection } from "../../store/inspection.ts";
import { SchemaError } from "../../store/sqlite/migrate.ts";
import { reasonOf } from "../../toolkit/system-error.ts";
import { databaseOf, type SecretKeys, sealOf } from "../data-folder.ts";
import { error, type Finding, ok, quoted, warn } from "./finding.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A server that is well takes up what is due within seconds. */
const STALE_MS = 10 * MINUTE_MS;
const MANY_WAL_BYTES = 64 * 2 ** 20;
/** The books of a larger database take too long to read on the way. */
const MOST_AUDITED_BYTES = 512 * 2 ** 20;

export interface DatabaseDeps {
  readonly config: SecretKeys;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Whether a server runs on the data folder. */
  readonly isServed: boolean;
}

export interface DatabaseLook {
  readonly findings: readonly Finding[];
  readonly lastBeat?: number | undefined;
}

/** Looks at the database of a data folder, beside a server or without one. Changes nothing. */
export async function lookAtDatabase(deps: DatabaseDeps): Promise<DatabaseLook> {
  const { config, isServed } = deps;
  const path = databaseOf(config);
  if (!existsSync(path))
    return { findings: [ok("database", "There is no database yet; svc serve makes one.")] };
  let inspection: Inspection;
  try {
    inspection = openInspection({ path, isInUse: isServed });
  } catch (cause) {
    return { findings: [damaged(path, reasonOf(cause))] };
  }
  try {
    const found = integrityChecks(inspection, path);
    const schema = schemaChecks(inspection, deps);
    const isUsable = [...found, ...schema].every(({ status }) => status === "ok");
    if (!isUsable) return { findings: [...found, ...schema, ...logCheck(path, isServed)] };
    const inspected = inspection.inspect(timesOf(deps.now), readingSeal(config));
    return {
      findings: [
        ...[...found, ...schema, ...logCheck(path, isServed)],
        ...[...workChecks(inspected, deps), ...keyChecks(inspected, deps)],
        ...(await auditChecks(inspection, deps)),
      ],
      lastBeat: inspected.lastBeat,
    };
  } catch (cause) {
    return { findings: [damaged(path, reasonOf(cause))] };
  } finally {
    inspection.stop();
  }
}

function timesOf(now: number) {
  return {
    now,
    staleBefore: now - STALE_MS,
    failedSince: now - 7 * DAY_MS,
    expiresBefore: now + 7 * DAY_MS,
  };
}

/** A seal that opens and never makes a key. */
function readingSeal(config: SecretKeys): Pick<Seal, "open" | "stateOf"> {
  return sealOf(config);
}

function damaged(path: string, reason: string): Finding {
  const fix = `Stop the server, and put a copy of ${path} from a backup in its place.`;
  return error("database", `${path} is damaged or no database: ${reason}.`, fix);
}

function integrityChecks(inspection: Inspection, path: string): Finding[] {
  const faults = inspection.faults();
  if (faults.length > 0) return [damaged(path, faults.join("; "))];
  return [ok("database", "Every page and index of the database is sound.")];
}

function schemaChecks({ schema }: Inspection, { config, isServed }: DatabaseDeps): Finding[] {
  if (schema instanceof SchemaError) {
    const fix =
      schema.kind === "newer"
        ? "Start the version of svc that was used last."
        : "Start the version of svc that the database was made with, or put a backup in its place.";
    return [error("schema", schema.message, fix)];
  }
  const { applied, pending } = schema;
  if (pending.length === 0) return [ok("migrations", `All ${applied.length} migrations are applied.`)];
  const text = `${pending.length} of ${applied.length + pending.length} migrations are not applied: ${pending.join(", ")}.`;
  const up = `svc migrate up --data-dir ${quoted(config.dataDir)}`;
  return [warn("migrations", text, isServed ? "Restart the server with this version." : up)];
}

export function logCheck(path: string, isServed: boolean): Finding[] {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const mib = Math.ceil(bytes / 2 ** 20);
  if (bytes < MANY_WAL_BYTES) return [ok("wal", `The write-ahead log has ${mib} MiB.`)];
  const text = `The write-ahead log has ${mib} MiB, which makes reading slow.`;
  const fix = isServed
    ? `End the process that reads the database for long: fuser -v ${quoted(path)}`
    : "Start the server: its start copies the log into the database.";
  return [warn("wal", text, fix)];
}

function workChecks(found: Inspected, { config, isServed }: DatabaseDeps): Finding[] {
  const folder = `--data-dir ${quoted(config.dataDir)}`;
  const { liveTasks, staleLeases, overdueCallbacks, failedCallbacks } = found;
  const leases =
    isServed && staleLeases > 0
      ? warn(
          "leases",
          `${counted(staleLeases, "task")} under way that nobody has worked on for ten minutes.`,
          "Restart the server: a start takes every task up where it was.",
        )
      : ok(
          "leases",
          `${counted(liveTasks, "live task")}${isServed || liveTasks === 0 ? "" : " for the next server to take up"}.`,
        );
  const callbacks = [
    ...(overdueCallbacks > 0
      ? [
          warn(
            "callbacks_overdue",
            `${counted(overdueCallbacks, "callback")} should have been sent more than ten minutes ago.`,
            isServed ? "Restart the server." : `svc serve ${folder}`,
          ),
        ]
      : [ok("callbacks_overdue", "No callback waits longer than it should.")]),
    ...(failedCallbacks > 0
      ? [
          warn(
            "callbacks_failed",
            `${counted(failedCallbacks, "callback")} of the last seven days reached nobody.`,
            `svc callbacks redeliver --since 7d ${folder}`,
          ),
        ]
      : []),
  ];
  return [leases, ...callbacks];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function keyChecks({ expiringKeys, lockedKeys }: Inspected, { config }: DatabaseDeps): Finding[] {
  const folder = `--data-dir ${quoted(config.dataDir)}`;
  const [name = ""] = expiringKeys;
  const expiring =
    expiringKeys.length === 0
      ? ok("keys_expiring", "No key expires within a week.")
      : warn(
          "keys_expiring",
          `These keys expire within a week: ${expiringKeys.join(", ")}.`,
          `svc keys update ${quoted(name)} --expires 90d ${folder}`,
        );
  if (lockedKeys.length === 0)
    return [expiring, ok("secret_key", "Every sealed secret of a key can be opened.")];
  const text = `Callback secrets of ${lockedKeys.join(", ")} are sealed with another key: their callbacks wait.`;
  const [locked = ""] = lockedKeys;
  const fix = `Give SVC_SECRET_KEY or SVC_SECRET_KEY_PREVIOUS that key, or: svc keys update ${quoted(locked)} --callback-secret new ${folder}`;
  return [expiring, error("secret_key", text, fix)];
}

async function auditChecks(inspection: Inspection, { config }: DatabaseDeps): Promise<Finding[]> {
  const command = `svc audit --data-dir ${quoted(config.dataDir)}`;
  const { size } = statSync(databaseOf(config));
  if (size > MOST_AUDITED_BYTES)
    return [ok("books", `The books are too large to be read on the way; \`${command}\` does.`)];
  const { differences } = await inspection.audit();
  if (differences.length === 0) return [ok("books", "The books add up.")];
  const checks = differences.map(({ check }) => check).join(", ");
  return [error("books", `The books do not add up: ${checks}.`, command)];
}

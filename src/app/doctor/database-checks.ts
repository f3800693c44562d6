import type { AuditReport } from "../../domain/ports/audit.ts";
import { WHOLE_ACCOUNT } from "../../domain/ports/route-store.ts";
import type { Inspected } from "../../store/inspection.ts";
import { type MigrationState, SchemaError } from "../../store/sqlite/migrate.ts";
import { error, type Finding, ok, quoted, warn } from "./finding.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A healthy server starts due work within seconds. */
const STALE_MS = 10 * MINUTE_MS;
/** The books of a larger database take too long to read on the way. */
const MOST_AUDITED_BYTES = 512 * 2 ** 20;

/** What is looked at. */
export interface Looked {
  /** The flag that names it after a command, ` --data-dir DIR`; empty if the settings name it. */
  readonly place: string;
  /** Whether a server works with it. */
  readonly isServed: boolean;
}

/** The period that counts. */
export function timesOf(now: number) {
  return {
    now,
    staleBefore: now - STALE_MS,
    failedSince: now - 7 * DAY_MS,
    expiresBefore: now + 7 * DAY_MS,
  };
}

/** Whether the tables are those of this program. */
export function schemaChecks(schema: MigrationState | SchemaError, { place, isServed }: Looked): Finding[] {
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
  const up = `svc migrate up${place}`;
  return [warn("migrations", text, isServed ? "Restart the server with this version." : up)];
}

/** Whether work is done in time. */
export function workChecks(found: Inspected, { place, isServed }: Looked): Finding[] {
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
            isServed ? "Restart the server." : `svc serve${place}`,
          ),
        ]
      : [ok("callbacks_overdue", "No callback waits longer than it should.")]),
    ...(failedCallbacks > 0
      ? [
          warn(
            "callbacks_failed",
            `${counted(failedCallbacks, "callback")} of the last seven days reached nobody.`,
            `svc callbacks redeliver --since 7d${place}`,
          ),
        ]
      : []),
  ];
  return [leases, ...callbacks];
}

/** Which ways get no tasks, as the server that served the database last found. */
export function routeChecks(
  { routesDown }: Pick<Inspected, "routesDown">,
  { place }: Pick<Looked, "place">,
): Finding[] {
  return routesDown.map(({ lane, upstreamModel, kind, detail, since }) => {
    const what = upstreamModel === WHOLE_ACCOUNT ? lane : `${lane}, ${upstreamModel}`;
    const model = upstreamModel === WHOLE_ACCOUNT ? "" : ` ${quoted(upstreamModel)}`;
    const again = kind === "open" ? " It is tried again by itself." : "";
    return warn(
      "routes_down",
      `No tasks go to ${what} since ${new Date(since).toISOString()}: ${detail} (${kind}).${again}`,
      `svc routes allow ${quoted(lane)}${model}${place}`,
    );
  });
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Whether keys expire soon, and whether their secrets can be opened. */
export function keyChecks({ expiringKeys, lockedKeys }: Inspected, { place }: Looked): Finding[] {
  const [name = ""] = expiringKeys;
  const expiring =
    expiringKeys.length === 0
      ? ok("keys_expiring", "No key expires within a week.")
      : warn(
          "keys_expiring",
          `These keys expire within a week: ${expiringKeys.join(", ")}.`,
          `svc keys update ${quoted(name)} --expires 90d${place}`,
        );
  if (lockedKeys.length === 0)
    return [expiring, ok("secret_key", "Every sealed secret of a key can be opened.")];
  const text = `Callback secrets of ${lockedKeys.join(", ")} are sealed with another key: their callbacks wait.`;
  const [locked = ""] = lockedKeys;
  const fix = `Give SVC_SECRET_KEY or SVC_SECRET_KEY_PREVIOUS that key, or: svc keys update ${quoted(locked)} --callback-secret new${place}`;
  return [expiring, error("secret_key", text, fix)];
}

/** Whether the books add up, unless they are too large to be read on the way. */
export async function auditChecks(
  { sizeBytes, audit }: { readonly sizeBytes: number; readonly audit: () => Promise<AuditReport> },
  { place }: Looked,
): Promise<Finding[]> {
  const command = `svc audit${place}`;
  if (sizeBytes > MOST_AUDITED_BYTES)
    return [ok("books", `The books are too large to be read on the way; \`${command}\` does.`)];
  const { differences } = await audit();
  if (differences.length === 0) return [ok("books", "The books add up.")];
  const checks = differences.map(({ check }) => check).join(", ");
  return [error("books", `The books do not add up: ${checks}.`, command)];
}

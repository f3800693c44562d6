import { existsSync, statSync } from "node:fs";
import type { Seal } from "../../domain/ports/runtime.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import { LONG_LOG_BYTES } from "../../domain/reclaimable.ts";
import { type Inspection, type LiveLane, openInspection } from "../../store/inspection.ts";
import { reasonOf } from "../../toolkit/system-error.ts";
import { databaseOf, type SecretKeys, sealOf } from "../data-folder.ts";
import { auditChecks, keyChecks, routeChecks, schemaChecks, timesOf, workChecks } from "./database-checks.ts";
import { error, type Finding, ok, quoted, warn } from "./finding.ts";

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
  /** Absent if it could not be read; not told of a database that nodes share, where another one may have the provider. */
  readonly liveLanes?: readonly LiveLane[];
}

/** Examines the database of a data folder, whether or not a server runs. Changes nothing. */
export async function lookAtDatabase(deps: DatabaseDeps): Promise<DatabaseLook> {
  const { config, isServed } = deps;
  const path = databaseOf(config);
  if (!existsSync(path))
    return { findings: [ok("database", "There is no database yet; svc serve makes one.")] };
  let inspection: Inspection;
  try {
    inspection = openInspection({ path, isInUse: isServed });
  } catch (cause) {
    return { findings: [unreadable(path, cause)] };
  }
  try {
    const found = integrityChecks(inspection, path);
    const looked = { place: ` --data-dir ${quoted(config.dataDir)}`, isServed };
    const schema = schemaChecks(inspection.schema, looked);
    const isUsable = [...found, ...schema].every(({ status }) => status === "ok");
    if (!isUsable) return { findings: [...found, ...schema, ...logCheck(path, isServed)] };
    const inspected = inspection.inspect(timesOf(deps.now), readingSeal(config));
    return {
      findings: [
        ...[...found, ...schema, ...logCheck(path, isServed)],
        ...[
          ...workChecks(inspected, looked),
          ...keyChecks(inspected, looked),
          ...routeChecks(inspected, looked),
        ],
        ...(await auditChecks({ sizeBytes: statSync(path).size, audit: inspection.audit }, looked)),
      ],
      lastBeat: inspected.lastBeat,
      liveLanes: inspected.liveLanes,
    };
  } catch (cause) {
    return { findings: [unreadable(path, cause)] };
  } finally {
    inspection.stop();
  }
}

/** A seal that opens and never makes a key. */
export function readingSeal(config: SecretKeys): Pick<Seal, "open" | "stateOf"> {
  return sealOf(config);
}

/** A database that cannot be read now may be sound, and a backup in its place would lose everything since. */
const READ_LATER: Readonly<Partial<Record<StorageError["kind"], string>>> = {
  full: "Free some space on its disk, and repeat this command.",
  read_only:
    "Repeat this command as the user that owns the data folder with its svc.db, svc.db-wal and svc.db-shm.",
  busy: "Repeat this command when the other process has ended.",
};

function unreadable(path: string, cause: unknown): Finding {
  const fix = cause instanceof StorageError ? READ_LATER[cause.kind] : undefined;
  if (fix === undefined) return damaged(path, reasonOf(cause));
  return error("database", `${path} cannot be read now: ${reasonOf(cause)}.`, fix);
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

export function logCheck(path: string, isServed: boolean): Finding[] {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const mib = Math.ceil(bytes / 2 ** 20);
  if (bytes < LONG_LOG_BYTES) return [ok("wal", `The write-ahead log has ${mib} MiB.`)];
  const text = `The write-ahead log has ${mib} MiB, which makes reading slow.`;
  const fix = isServed
    ? `End the process that reads the database for long: fuser -v ${quoted(path)}`
    : "Start the server: its start copies the log into the database.";
  return [warn("wal", text, fix)];
}

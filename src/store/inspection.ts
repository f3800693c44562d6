import { existsSync } from "node:fs";
import type { AuditReport } from "../domain/ports/audit.ts";
import type { Seal } from "../domain/ports/runtime.ts";
import { prepareAudit } from "./sqlite/audit.ts";
import { openForReading } from "./sqlite/connection.ts";
import { translating } from "./sqlite/errors.ts";
import { faultsOf, type Inspected, type InspectionTimes, inspect } from "./sqlite/inspection.ts";
import { type MigrationState, readMigrationState, SchemaError } from "./sqlite/migrate.ts";

export type { Inspected, InspectionTimes, LiveLane } from "./sqlite/inspection.ts";

/** A database under inspection. Nothing of it is changed, and no file is created next to it. */
export interface Inspection {
  /** Its migrations, or why this program cannot use it. */
  readonly schema: MigrationState | SchemaError;
  /** What SQLite reports about its pages and indexes; empty for an intact database. @throws StorageError if it cannot be read */
  faults(): readonly string[];
  /** @throws Error if migrations are pending */
  inspect(times: InspectionTimes, seal: Pick<Seal, "open" | "stateOf">): Inspected;
  readonly audit: () => Promise<AuditReport>;
  stop(): void;
}

/**
 * Opens a database for inspection, whether or not a server uses it.
 *
 * @param isInUse whether a process may write to it meanwhile
 * @throws StorageError when it cannot be read
 */
export function openInspection({ path, isInUse }: { path: string; isInUse: boolean }): Inspection {
  // Ordinary reading would create a log and its index next to the database if there are none.
  const isAtRest = !isInUse && !existsSync(`${path}-wal`);
  const db = openForReading(path, isAtRest);
  try {
    const schema = translating(() => schemaOf(() => readMigrationState(db)));
    return {
      schema,
      faults: () => translating(() => faultsOf(db)),
      inspect: (times, seal) => translating(() => inspect(db, times, seal)),
      audit: () => prepareAudit(db).run(),
      stop: () => db.stop(),
    };
  } catch (error) {
    db.stop();
    throw error;
  }
}

function schemaOf(read: () => MigrationState): MigrationState | SchemaError {
  try {
    return read();
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
}

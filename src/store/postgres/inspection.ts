import type { AuditReport } from "../../domain/ports/audit.ts";
import type { Node } from "../../domain/ports/node-store.ts";
import type { Seal } from "../../domain/ports/runtime.ts";
import {
  type Inspected,
  type InspectionTimes,
  type LiveLane,
  liveLanesOf,
  lockedIn,
  MOST_COUNTED,
  NAMED,
  ROUTES_DOWN,
  SIGNING_KEYS,
  type SigningKey,
} from "../sqlite/inspection.ts";
import { type MigrationState, SchemaError } from "../sqlite/migrate.ts";
import { toTrouble } from "../sqlite/route-store.ts";
import type { routeTrouble } from "../sqlite/route-table.ts";
import { LIVE } from "../sqlite/task-store/task-table.ts";
import { createAudit } from "./audit.ts";
import { type Connection, openConnection } from "./connection.ts";
import { requireFit } from "./fit.ts";
import { readMigrationState } from "./migrate.ts";
import { createNodeStore, DATABASE_NOW } from "./node-store.ts";
import { type Session, statement } from "./session.ts";

interface Counts {
  readonly staleLeases: number;
  readonly liveTasks: number;
  readonly overdueCallbacks: number;
  readonly failedCallbacks: number;
  readonly lastBeat: number | null;
}

const counted = (rows: string) => `(select count(*) from (${rows} limit ${MOST_COUNTED}) as counted)`;
const COUNTS = statement<Counts, [staleBefore: number, failedSince: number]>(
  `select ${counted("select 1 from task where pool = 'under_way' and due_at < $1")} as "staleLeases",
     ${counted(`select 1 from task where ${LIVE}`)} as "liveTasks",
     ${counted("select 1 from callback where pool = 'waiting' and due_at < $1")}
       + ${counted("select 1 from callback where pool = 'ready' and due_at < $1")} as "overdueCallbacks",
     ${counted("select 1 from callback where state = 'failed' and created_at >= $2")} as "failedCallbacks",
     (select at from heartbeat where id = 1) as "lastBeat"`,
);
const EXPIRING = statement<{ name: string }, [now: number, before: number]>(
  `select name from api_key where revoked_at is null and expires_at > $1 and expires_at < $2 order by expires_at limit ${NAMED}`,
);
const DOWN = statement<typeof routeTrouble.$inferSelect>(ROUTES_DOWN);
const SIGNING = statement<SigningKey>(SIGNING_KEYS);
const LIVE_LANES = statement<LiveLane>(liveLanesOf("task"));
const SERVER = statement<{ version: string; size: number; now: number }>(
  `select split_part(current_setting('server_version'), ' ', 1) as version,
     pg_database_size(current_database()) as size, ${DATABASE_NOW} as now`,
);

/** Facts about a database besides its books, at one moment. */
function inspect(
  { readAtOnce }: Pick<Connection, "readAtOnce">,
  { now, staleBefore, failedSince, expiresBefore }: InspectionTimes,
  seal: Pick<Seal, "open" | "stateOf">,
): Promise<Inspected> {
  return readAtOnce(async (session) => {
    const counts = await COUNTS.get(session, staleBefore, failedSince);
    if (counts === undefined) throw new Error("Nothing could be counted.");
    const expiring = await EXPIRING.all(session, now, expiresBefore);
    return {
      ...counts,
      lastBeat: counts.lastBeat ?? undefined,
      expiringKeys: expiring.map(({ name }) => name),
      lockedKeys: lockedIn(await SIGNING.all(session), seal),
      liveLanes: (await LIVE_LANES.all(session)).map((found) => ({ ...found })),
      routesDown: (await DOWN.all(session)).map(toTrouble),
    };
  });
}

interface Looked {
  /** Of the server: `15.4`. */
  readonly version: string;
  readonly sizeBytes: number;
  /** By the database's clock. */
  readonly now: number;
  readonly schema: MigrationState | SchemaError;
  /** The nodes that reported within an hour; none if there are no tables. */
  readonly nodes: readonly Node[];
}

/** A shared database of nodes under inspection. Nothing of it is changed. */
export interface SharedInspection {
  /** @throws StorageError when it cannot be reached; Error when the service cannot be served from it */
  look(): Promise<Looked>;
  /** @throws Error if migrations are pending */
  inspect(times: InspectionTimes, seal: Pick<Seal, "open" | "stateOf">): Promise<Inspected>;
  readonly audit: () => Promise<AuditReport>;
  stop(): Promise<void>;
}

/** Opens a database for inspection. Nothing is sent before the first read. */
export function openSharedInspection(url: string): SharedInspection {
  const connection = openConnection({ url, connections: 1 });
  return {
    look: () =>
      connection.read(async (session) => {
        await connection.opening(() => requireFit(connection.driver));
        const { version = "", size: sizeBytes = 0, now = 0 } = (await SERVER.get(session)) ?? {};
        const schema = await schemaOf(session);
        const hasTables = !(schema instanceof SchemaError) && schema.pending.length === 0;
        const { nodes } = hasTables ? await createNodeStore(connection).all() : { nodes: [] };
        return { version, sizeBytes, now, schema, nodes };
      }),
    inspect: (times, seal) => inspect(connection, times, seal),
    audit: () => createAudit(connection).run(),
    stop: connection.stop,
  };
}

async function schemaOf(session: Session): Promise<MigrationState | SchemaError> {
  try {
    return await readMigrationState(session);
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
}

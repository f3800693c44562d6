import type { LaneId } from "../../domain/ids.ts";
import { toMicros } from "../../domain/money/money.ts";
import type { LaneLoad } from "../../domain/overview.ts";
import type { DatabaseCheck } from "../../domain/ports/database-check.ts";
import type { Stock } from "../../domain/stock.ts";
import { textOf } from "../sqlite/label-table.ts";
import { SchemaError } from "../sqlite/migrate.ts";
import { LIVE } from "../sqlite/task-store/task-table.ts";
import type { Connection } from "./connection.ts";
import { readMigrationState } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";
import { type Session, statement } from "./session.ts";

interface LoadRow {
  readonly lane: LaneId;
  readonly queued: number;
  readonly oldest: number | null;
  readonly under_way: number;
}

// These indexes contain only live tasks, however many have ended.
const LANES = statement<LoadRow>(
  `select lane, (count(*) filter (where pool <> 'under_way'))::bigint as queued,
     min(created_at) filter (where pool <> 'under_way') as oldest,
     (count(*) filter (where pool = 'under_way'))::bigint as under_way
   from task where pool is not null group by lane order by lane`,
);
const TASKS = statement<Stock["tasks"][number]>(
  `select ${textOf("model_label")} as model, status, count(*)::bigint as count from task
   where ${LIVE} group by model_label, status`,
);
const OWED = statement<{ count: number; oldest: number | null }>(
  "select count(*)::bigint as count, min(created_at) as oldest from callback where pool in ('ready', 'waiting')",
);
const HELD = statement<{ micros: number }>(
  "select coalesce(sum(held_micros), 0)::bigint as micros from account",
);
const ASSETS = statement<Stock["assets"][number]>(
  `select role, count(*)::bigint as count, sum(size_bytes)::bigint as bytes from asset group by role
   union all
   select 'upload', sum(files)::bigint, sum(bytes)::bigint from upload_total having sum(files) > 0`,
);
const SIZE = statement<{ bytes: number }>("select pg_database_size(current_database()) as bytes");

/** Counts what is stored. Takes as long as there are rows; nobody waits for it. */
export async function readStock({ readAtOnce }: Pick<Connection, "readAtOnce">): Promise<Stock> {
  return readAtOnce(async (session) => {
    const [lanes, tasks, owed, held, assets] = await Promise.all([
      LANES.all(session),
      TASKS.all(session),
      OWED.get(session),
      HELD.get(session),
      ASSETS.all(session),
    ]);
    return {
      lanes: lanes.map(toLoad),
      tasks,
      callbacks: { count: owed?.count ?? 0, oldestAt: owed?.oldest ?? undefined },
      held: toMicros(held?.micros ?? 0),
      assets,
    };
  });
}

function toLoad({ lane, queued, oldest, under_way: underWay }: LoadRow): LaneLoad {
  return { lane, queued, oldestAt: oldest ?? undefined, underWay };
}

/** The size of the database, and whether its tables are those of this program. The server itself checks its pages. */
export async function checkDatabase({ read }: Pick<Connection, "read">): Promise<DatabaseCheck> {
  return read(async (session) => {
    const size = await SIZE.get(session);
    return { ...(await schemaOf(session)), fileBytes: size?.bytes ?? 0, walBytes: 0 };
  });
}

async function schemaOf(session: Session): Promise<Pick<DatabaseCheck, "schema" | "faults">> {
  const latest = MIGRATIONS.length;
  try {
    const { applied, pending } = await readMigrationState(session);
    return { schema: { latest, current: applied.length, pending }, faults: [] };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return { schema: { latest, pending: [] }, faults: [{ kind: "schema", message: error.message }] };
  }
}

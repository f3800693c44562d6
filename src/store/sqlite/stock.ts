import type { Database } from "bun:sqlite";
import type { LaneId, TaskId } from "../../domain/ids.ts";
import { toMicros } from "../../domain/money/money.ts";
import type { LaneLoad } from "../../domain/overview.ts";
import type { Stock } from "../../domain/stock.ts";
import { textOf } from "./label-table.ts";
import { LIVE } from "./task-store/task-table.ts";

/** Returns a function that counts what is stored. Takes as long as there are rows, so a server reads it in a thread of its own. */
export function prepareStock(db: Database): () => Stock {
  const lanes = prepareLoads(db);
  const tasks = db.prepare<Stock["tasks"][number], []>(
    `select ${textOf("model_label")} as model, status, count(*) as count from task indexed by task_live
     where ${LIVE} group by model_label, status`,
  );
  const callbacks = (["ready", "waiting"] as const).map((pool) =>
    db.prepare<{ count: number; oldestAt: number | null }, []>(
      `select count(*) as count, min(created_at) as oldestAt
       from callback indexed by callback_${pool} where pool = '${pool}'`,
    ),
  );
  const held = db.prepare<{ micros: number | null }, []>("select sum(held_micros) as micros from account");
  const assets = db.prepare<Stock["assets"][number], []>(
    `select role, count(*) as count, sum(size_bytes) as bytes from asset group by 1
     union all
     select 'upload', sum(files), sum(bytes) from upload_total having sum(files) > 0`,
  );
  return () => {
    const owed = callbacks.flatMap((statement) => statement.get() ?? []);
    const oldestAt = Math.min(...owed.map((each) => each.oldestAt ?? Number.POSITIVE_INFINITY));
    return {
      lanes: lanes(),
      tasks: tasks.all(),
      callbacks: {
        count: owed.reduce((sum, { count }) => sum + count, 0),
        oldestAt: Number.isFinite(oldestAt) ? oldestAt : undefined,
      },
      held: toMicros(held.get()?.micros ?? 0),
      assets: assets.all(),
    };
  };
}

/** Counts in indexes alone. The oldest task of a lane has its lowest id, because ids sort by time. */
function prepareLoads(db: Database): () => LaneLoad[] {
  const queued = (["ready", "waiting"] as const).map((pool) =>
    db.prepare<{ lane: LaneId; count: number; oldest: TaskId }, []>(
      `select lane, count(*) as count, min(id) as oldest from task indexed by task_${pool}
       where pool = '${pool}' group by lane`,
    ),
  );
  const underWay = db.prepare<{ lane: LaneId; count: number }, []>(
    "select lane, count(*) as count from task indexed by task_under_way where pool = 'under_way' group by lane",
  );
  const createdAt = db.prepare<{ at: number }, [id: TaskId]>(
    "select created_at as at from task where id = ?",
  );
  return () => {
    const loads = new Map<LaneId, LaneLoad>();
    for (const { lane, count, oldest } of queued.flatMap((statement) => statement.all())) {
      const before = loads.get(lane);
      // Undefined when it has ended since.
      const at = createdAt.get(oldest)?.at;
      const oldestAt = Math.min(at ?? Number.POSITIVE_INFINITY, before?.oldestAt ?? Number.POSITIVE_INFINITY);
      loads.set(lane, {
        lane,
        queued: (before?.queued ?? 0) + count,
        oldestAt: Number.isFinite(oldestAt) ? oldestAt : undefined,
        underWay: 0,
      });
    }
    for (const { lane, count } of underWay.all())
      loads.set(lane, { ...(loads.get(lane) ?? { lane, queued: 0 }), underWay: count });
    return [...loads.values()].sort((a, b) => (a.lane < b.lane ? -1 : 1));
  };
}

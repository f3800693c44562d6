import type { Database } from "bun:sqlite";
import type { LaneId } from "../../../domain/ids.ts";
import type { LaneLoad } from "../../../domain/overview.ts";
import { prepareBacklog } from "../backlog.ts";

/** The body of `TaskStore.lanes`. Tasks under way are counted one by one: there are never more than may run at once. */
export function prepareLanes(db: Database): () => LaneLoad[] {
  const queued = prepareBacklog(db, {
    table: "task",
    pools: { ready: "task_ready", waiting: "task_waiting" },
    group: (row) => `${row}.lane`,
  });
  const underWay = db.prepare<{ lane: string; count: number }, []>(
    `select lane, count(*) as count from task indexed by task_under_way where pool = 'under_way' group by lane`,
  );
  return () => {
    const backlogs = new Map(queued().map((backlog) => [backlog.name, backlog]));
    const running = new Map(underWay.all().map(({ lane, count }) => [lane, count]));
    const names = [...new Set([...backlogs.keys(), ...running.keys()])].sort();
    return names.map((name) => {
      const backlog = backlogs.get(name);
      return {
        // Safe: the column holds ids of lanes.
        lane: name as LaneId,
        queued: backlog?.count ?? 0,
        oldestAt: backlog && backlog.oldestSec * 1000,
        underWay: running.get(name) ?? 0,
      };
    });
  };
}

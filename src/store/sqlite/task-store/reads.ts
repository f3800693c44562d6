import { and, asc, desc, eq, lt, sql } from "drizzle-orm";
import type { Asset } from "../../../domain/asset.ts";
import type { AssetId, TaskId } from "../../../domain/ids.ts";
import type { TaskCounts, TaskFilter } from "../../../domain/ports/task-store.ts";
import type { Attempt, Task } from "../../../domain/task.ts";
import type { Connection } from "../connection.ts";
import { toAsset, toAttempt, toTask } from "../rows.ts";
import { asset, attempt, task } from "../schema.ts";

export function prepareReads({ db, orm }: Connection) {
  const taskById = orm
    .select()
    .from(task)
    .where(eq(task.id, sql.placeholder("id")))
    .prepare();
  const attemptsOf = orm
    .select()
    .from(attempt)
    .where(eq(attempt.taskId, sql.placeholder("id")))
    .orderBy(asc(attempt.sequence))
    .prepare();
  const assetById = orm
    .select()
    .from(asset)
    .where(eq(asset.id, sql.placeholder("id")))
    .prepare();
  // A partial index answers each; drizzle would not say which.
  const counts = db.prepare<{ queued: number; under_way: number }, []>(
    `select (select count(*) from task indexed by task_ready where pool = 'ready')
          + (select count(*) from task indexed by task_waiting where pool = 'waiting') as queued,
            (select count(*) from task indexed by task_under_way where pool = 'under_way') as under_way`,
  );

  return {
    byId(id: TaskId): Task | undefined {
      const row = taskById.get({ id });
      return row && toTask(row);
    },
    attempts: (id: TaskId): Attempt[] => attemptsOf.all({ id }).map(toAttempt),
    assetById(id: AssetId): Asset | undefined {
      const row = assetById.get({ id });
      return row && toAsset(row);
    },
    list({ accountId, kind, status, model, after, limit }: TaskFilter): Task[] {
      const wanted = and(
        eq(task.accountId, accountId),
        after === undefined ? undefined : lt(task.id, after),
        kind === undefined ? undefined : eq(task.kind, kind),
        status === undefined ? undefined : eq(task.status, status),
        model === undefined ? undefined : eq(task.model, model),
      );
      return orm.select().from(task).where(wanted).orderBy(desc(task.id)).limit(limit).all().map(toTask);
    },
    counts(): TaskCounts {
      const row = counts.get();
      return { queued: row?.queued ?? 0, underWay: row?.under_way ?? 0 };
    },
  };
}

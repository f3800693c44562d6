import type { Database } from "bun:sqlite";
import type { AccountId, AssetId, AttemptId, TaskId } from "../../../domain/ids.ts";
import type { Asset } from "../../../domain/media/asset.ts";
import type { OrphanedTask, TimedCancel } from "../../../domain/ports/left-tasks.ts";
import type { ListOrder, LiveCounts, TaskCounts, TaskFilter } from "../../../domain/ports/task-store.ts";
import type { Race } from "../../../domain/task/group-terms.ts";
import type { GenerationRequest } from "../../../domain/task/request.ts";
import { type Attempt, isTerminal, type Task, type TaskSummary } from "../../../domain/task/task.ts";
import { ACCOUNT_ID, accountNumber } from "../account-store/account-table.ts";
import type { Connection } from "../connection.ts";
import { textOf } from "../label-table.ts";
import { parse } from "../raw-row.ts";
import { ASSET_COLUMNS, type AssetRow, toAsset } from "./asset-table.ts";
import { ATTEMPT_COLUMNS, type AttemptRow, toAttempt } from "./attempt-table.ts";
import type { Finished, Kept } from "./finished.ts";
import { type FindTasks, prepareRows } from "./list.ts";
import { prepareQueuePosition } from "./queue-position.ts";
import { requestIn } from "./stored-request.ts";
import {
  CANCELS_LATER,
  LIVE,
  REMOVED,
  SUMMARY_COLUMNS,
  type SummaryRow,
  TASK_COLUMNS,
  type TaskRow,
  taskNumber,
  toSummary,
  toTask,
} from "./task-table.ts";
import type { Turns } from "./turns.ts";

/** Returns a function that reads the summary of a task. */
function prepareSummary(db: Database, kept: Kept<TaskId, TaskSummary>) {
  const summaryById = db.prepare<SummaryRow, [id: string]>(
    `select ${SUMMARY_COLUMNS} from task where id = ? and status <> '${REMOVED}'`,
  );
  return (id: TaskId): TaskSummary | undefined => {
    const known = kept.get(id);
    if (known !== undefined) return known;
    const row = summaryById.get(id);
    if (row === null) return undefined;
    const summary = toSummary(row);
    if (isTerminal(summary.status)) kept.add(id, summary);
    return summary;
  };
}

/** Returns a function that reads what a task was asked for. */
function prepareRequest(db: Database) {
  const requestById = db.prepare<Pick<TaskRow, "request">, [id: string]>(
    `select request from task where id = ? and status <> '${REMOVED}'`,
  );
  return ({ id, kind, model }: Pick<TaskSummary, "id" | "kind" | "model">): GenerationRequest | undefined => {
    const row = requestById.get(id);
    return row === null ? undefined : requestIn({ kind, model, ...row });
  };
}

/** Returns a function that reads an asset. */
function prepareAsset(db: Database, kept: Kept<AssetId, Asset>) {
  const assetById = db.prepare<AssetRow, [id: string]>(`select ${ASSET_COLUMNS} from asset where id = ?`);
  return (id: AssetId): Asset | undefined => {
    const known = kept.get(id);
    if (known !== undefined) return known;
    const row = assetById.get(id);
    if (row === null) return undefined;
    const asset = toAsset(row);
    kept.add(id, asset);
    return asset;
  };
}

interface ReadsUse {
  readonly turns: Turns;
  readonly find: FindTasks;
  readonly finished: Pick<Finished, "summaries" | "assets">;
}

export function prepareReads({ db }: Connection, { turns, find, finished }: ReadsUse) {
  const taskById = db.prepare<TaskRow, [id: string]>(
    `select ${TASK_COLUMNS} from task where id = ? and status <> '${REMOVED}'`,
  );
  const attemptsOf = db.prepare<AttemptRow, [id: string]>(
    `select ${ATTEMPT_COLUMNS} from attempt where task_number = ${taskNumber("?")} order by sequence`,
  );
  const attemptById = db.prepare<AttemptRow, [id: string]>(
    `select ${ATTEMPT_COLUMNS} from attempt where id = ?`,
  );
  const rowsOf = prepareRows<SummaryRow>(db, SUMMARY_COLUMNS);

  return {
    byId(id: TaskId): Task | undefined {
      const row = taskById.get(id);
      return row === null ? undefined : toTask(row);
    },
    summary: prepareSummary(db, finished.summaries),
    requestOf: prepareRequest(db),
    attempts: (id: TaskId): Attempt[] => attemptsOf.all(id).map(toAttempt),
    attempt(id: AttemptId): Attempt | undefined {
      const row = attemptById.get(id);
      return row === null ? undefined : toAttempt(row);
    },
    assetById: prepareAsset(db, finished.assets),
    list: (filter: TaskFilter, order?: ListOrder): TaskSummary[] =>
      rowsOf(find({ ...filter, order })).map(toSummary),
    queuePosition: prepareQueuePosition(db, turns),
    ...prepareLiveReads(db),
  };
}

/** Reads about all live tasks. A partial index answers each. */
function prepareLiveReads(db: Database) {
  const counts = db.prepare<TaskCounts, []>(
    `select (select count(*) from task indexed by task_ready where pool = 'ready')
          + (select count(*) from task indexed by task_waiting where pool = 'waiting') as queued,
            (select count(*) from task indexed by task_under_way where pool = 'under_way') as underWay`,
  );
  const liveCounts = db.prepare<LiveCounts, [account: string]>(
    `select count(*) filter (where status = 'pending') as pending,
            count(*) filter (where status = 'processing') as processing
     from task indexed by task_live where account_number = ${accountNumber("?")} and ${LIVE}`,
  );
  const orphans = db.prepare<OrphanedTask, []>(
    `select id, sync_scope as syncScope, ${ACCOUNT_ID} as accountId, ${textOf("key_label")} as keyId, created_at as createdAt
     from task indexed by task_waited_for
     where pool is not null and sync_scope is not null order by id`,
  );
  const timed = db.prepare<Omit<TimedCancel, "cancelsUnstarted"> & { cancelsUnstarted: 1 | null }, []>(
    `select id, ${ACCOUNT_ID} as accountId, json_extract(request, '$.cancelAt') as cancelAt,
            json_extract(request, '$.cancelsUnstarted') as cancelsUnstarted
     from task indexed by task_cancels_later
     where ${CANCELS_LATER} and cancel_requested = 0 and json_extract(request, '$.cancelAt') is not null
       and (started_at is null or json_extract(request, '$.cancelsUnstarted') is null) order by id`,
  );
  const races = db.prepare<{ accountId: AccountId; tasks: string }, []>(
    `select ${ACCOUNT_ID} as accountId, json_extract(request, '$.group.tasks') as tasks
     from task indexed by task_cancels_later
     where ${CANCELS_LATER} and json_extract(request, '$.group.policy') = 'first' order by id`,
  );
  return {
    races: (): Race[] =>
      races.all().map(({ accountId, tasks }) => ({ accountId, tasks: parse<TaskId[]>(tasks) })),
    timed: (): TimedCancel[] =>
      timed
        .all()
        .map(({ cancelsUnstarted, ...task }) =>
          cancelsUnstarted === 1 ? { ...task, cancelsUnstarted: true } : task,
        ),
    counts: (): TaskCounts => counts.get() ?? { queued: 0, underWay: 0 },
    liveCounts: (accountId: AccountId): LiveCounts =>
      liveCounts.get(accountId) ?? { pending: 0, processing: 0 },
    orphans: (): OrphanedTask[] => orphans.all(),
  };
}

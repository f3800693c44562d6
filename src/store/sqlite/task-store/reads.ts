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
import { type FindTasks, prepareRows } from "./list.ts";
import { prepareQueuePosition } from "./queue-position.ts";
import { requestIn } from "./stored-request.ts";
import {
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

/** How many summaries of finished tasks, and how many assets, stay in memory. They change only by being removed, and callers keep asking for the latest. */
const MOST_KEPT = 10_000;

/** Keeps what seldom changes, the latest of it. */
function createKept<Id, Value>() {
  const kept = new Map<Id, Value>();
  return {
    get: (id: Id): Value | undefined => kept.get(id),
    forget: (id: Id): void => void kept.delete(id),
    forgetAll: (): void => kept.clear(),
    add(id: Id, value: Value): void {
      const oldest = kept.size < MOST_KEPT ? undefined : kept.keys().next().value;
      if (oldest !== undefined) kept.delete(oldest);
      kept.set(id, value);
    },
  };
}

/** Returns a function that reads the summary of a task. */
function prepareSummary(db: Database) {
  const summaryById = db.prepare<SummaryRow, [id: string]>(
    `select ${SUMMARY_COLUMNS} from task where id = ? and status <> '${REMOVED}'`,
  );
  const kept = createKept<TaskId, TaskSummary>();
  const summary = (id: TaskId): TaskSummary | undefined => {
    const known = kept.get(id);
    if (known !== undefined) return known;
    const row = summaryById.get(id);
    if (row === null) return undefined;
    const summary = toSummary(row);
    if (isTerminal(summary.status)) kept.add(id, summary);
    return summary;
  };
  return { summary, kept };
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
function prepareAsset(db: Database) {
  const assetById = db.prepare<AssetRow, [id: string]>(`select ${ASSET_COLUMNS} from asset where id = ?`);
  const kept = createKept<AssetId, Asset>();
  const assetOf = (id: AssetId): Asset | undefined => {
    const known = kept.get(id);
    if (known !== undefined) return known;
    const row = assetById.get(id);
    if (row === null) return undefined;
    const asset = toAsset(row);
    kept.add(id, asset);
    return asset;
  };
  return { assetById: assetOf, kept };
}

export function prepareReads({ db }: Connection, turns: Turns, find: FindTasks) {
  const taskById = db.prepare<TaskRow, [id: string]>(
    `select ${TASK_COLUMNS} from task where id = ? and status <> '${REMOVED}'`,
  );
  const attemptsOf = db.prepare<AttemptRow, [id: string]>(
    `select ${ATTEMPT_COLUMNS} from attempt where task_number = ${taskNumber("?")} order by sequence`,
  );
  const attemptById = db.prepare<AttemptRow, [id: string]>(
    `select ${ATTEMPT_COLUMNS} from attempt where id = ?`,
  );
  const { summary, kept: summaries } = prepareSummary(db);
  const { assetById, kept: assets } = prepareAsset(db);
  const rowsOf = prepareRows<SummaryRow>(db, SUMMARY_COLUMNS);

  return {
    byId(id: TaskId): Task | undefined {
      const row = taskById.get(id);
      return row === null ? undefined : toTask(row);
    },
    summary,
    requestOf: prepareRequest(db),
    /** Forgets what is kept of a task in memory. */
    forget(id: TaskId, ofAssets: readonly AssetId[]): void {
      summaries.forget(id);
      for (const asset of ofAssets) assets.forget(asset);
    },
    forgetAll(): void {
      summaries.forgetAll();
      assets.forgetAll();
    },
    attempts: (id: TaskId): Attempt[] => attemptsOf.all(id).map(toAttempt),
    attempt(id: AttemptId): Attempt | undefined {
      const row = attemptById.get(id);
      return row === null ? undefined : toAttempt(row);
    },
    assetById,
    keptAsset: assets.get,
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
  const timed = db.prepare<TimedCancel, []>(
    `select id, ${ACCOUNT_ID} as accountId, json_extract(request, '$.cancelAt') as cancelAt
     from task indexed by task_live where ${LIVE} and json_extract(request, '$.cancelAt') is not null order by id`,
  );
  const races = db.prepare<{ accountId: AccountId; tasks: string }, []>(
    `select ${ACCOUNT_ID} as accountId, json_extract(request, '$.group.tasks') as tasks
     from task indexed by task_live where ${LIVE} and json_extract(request, '$.group.policy') = 'first' order by id`,
  );
  return {
    races: (): Race[] =>
      races.all().map(({ accountId, tasks }) => ({ accountId, tasks: parse<TaskId[]>(tasks) })),
    timed: (): TimedCancel[] => timed.all(),
    counts: (): TaskCounts => counts.get() ?? { queued: 0, underWay: 0 },
    liveCounts: (accountId: AccountId): LiveCounts =>
      liveCounts.get(accountId) ?? { pending: 0, processing: 0 },
    orphans: (): OrphanedTask[] => orphans.all(),
  };
}

import type { AccountId, AssetId, AttemptId, TaskId } from "../../../domain/ids.ts";
import type { Asset } from "../../../domain/media/asset.ts";
import type { LiveCounts, TaskCounts } from "../../../domain/ports/task-store.ts";
import type { GenerationRequest } from "../../../domain/task/request.ts";
import type { Attempt, Task, TaskSummary } from "../../../domain/task/task.ts";
import { accountNumber } from "../../sqlite/account-store/account-table.ts";
import { ASSET_COLUMNS, type AssetRow, toAsset } from "../../sqlite/task-store/asset-table.ts";
import { ATTEMPT_COLUMNS, type AttemptRow, toAttempt } from "../../sqlite/task-store/attempt-table.ts";
import { requestIn } from "../../sqlite/task-store/stored-request.ts";
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
} from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

// Whoever reads a task, an asset or an attempt by its id may have written it just before: these reads see the last write.
const TASK = statement<TaskRow, [id: TaskId]>(
  `select ${TASK_COLUMNS} from task where id = $1 and status <> '${REMOVED}'`,
);
const SUMMARY = statement<SummaryRow, [id: TaskId]>(
  `select ${SUMMARY_COLUMNS} from task where id = $1 and status <> '${REMOVED}'`,
);
const REQUEST = statement<Pick<TaskRow, "request">, [id: TaskId]>(
  `select request from task where id = $1 and status <> '${REMOVED}'`,
);
const ATTEMPTS_OF = statement<AttemptRow, [id: TaskId]>(
  `select ${ATTEMPT_COLUMNS} from attempt where task_number = ${taskNumber("$1")} order by sequence`,
);
const ATTEMPT = statement<AttemptRow, [id: AttemptId]>(
  `select ${ATTEMPT_COLUMNS} from attempt where id = $1`,
);
const ASSET = statement<AssetRow, [id: AssetId]>(`select ${ASSET_COLUMNS} from asset where id = $1`);

/** The body of `TaskStore.byId`. */
export async function byId(session: Session, id: TaskId): Promise<Task | undefined> {
  const row = await TASK.get(session, id);
  return row && toTask(row);
}

/** The body of `TaskStore.summary`. Nothing is kept in memory: another process may remove the task. */
export async function summary(session: Session, id: TaskId): Promise<TaskSummary | undefined> {
  const row = await SUMMARY.get(session, id);
  return row && toSummary(row);
}

/** The body of `TaskStore.requestOf`. */
export async function requestOf(
  session: Session,
  { id, kind, model }: Pick<TaskSummary, "id" | "kind" | "model">,
): Promise<GenerationRequest | undefined> {
  const row = await REQUEST.get(session, id);
  return row && requestIn({ kind, model, ...row });
}

/** The body of `TaskStore.attempts`. */
export async function attempts(session: Session, id: TaskId): Promise<Attempt[]> {
  return (await ATTEMPTS_OF.all(session, id)).map(toAttempt);
}

/** The body of `TaskStore.attempt`. */
export async function attempt(session: Session, id: AttemptId): Promise<Attempt | undefined> {
  const row = await ATTEMPT.get(session, id);
  return row && toAttempt(row);
}

/** The body of `TaskStore.assetById`. */
export async function assetById(session: Session, id: AssetId): Promise<Asset | undefined> {
  const row = await ASSET.get(session, id);
  return row && toAsset(row);
}

const COUNTS = statement<TaskCounts>(
  `select ((select count(*) from task where pool = 'ready')
         + (select count(*) from task where pool = 'waiting'))::bigint as queued,
          (select count(*) from task where pool = 'under_way')::bigint as "underWay"`,
);
const LIVE_COUNTS = statement<LiveCounts, [account: AccountId]>(
  `select count(*) filter (where status = 'pending')::bigint as pending,
          count(*) filter (where status = 'processing')::bigint as processing
   from task where account_number = ${accountNumber("$1")} and ${LIVE}`,
);

/** The body of `TaskStore.counts`. Counts in the indexes of live tasks. */
export async function counts(session: Session): Promise<TaskCounts> {
  return (await COUNTS.get(session)) ?? { queued: 0, underWay: 0 };
}

/** The body of `TaskStore.liveCounts`. */
export async function liveCounts(session: Session, account: AccountId): Promise<LiveCounts> {
  return (await LIVE_COUNTS.get(session, account)) ?? { pending: 0, processing: 0 };
}

import type { AssetId, TaskId } from "../../../domain/ids.ts";
import type { Asset } from "../../../domain/media/asset.ts";
import type { Task, TaskSummary } from "../../../domain/task/task.ts";
import type { Ending, Transition } from "../../../domain/task/transition.ts";
import { createLatest } from "../../../toolkit/latest.ts";
import type { Connection } from "../connection.ts";
import type { TaskRow } from "./task-table.ts";

/** How many of those that were read stay in memory, tasks and assets each. */
const MOST_READ = 10_000;
/** How many that ended a moment ago: whoever waits for one reads it at once. */
const MOST_ENDED = 1_000;

export interface Kept<Id, Value> {
  get(id: Id): Value | undefined;
  add(id: Id, value: Value): void;
}

export type Finished = ReturnType<typeof createFinished>;

/**
 * Summaries of finished tasks, and assets, in memory: those that were read lately, and those that were written a moment ago. They change only
 * by being removed, and callers keep asking for the latest.
 */
export function createFinished({ onUndone }: Pick<Connection, "onUndone">) {
  const [summaries, assets] = [createKept<TaskId, TaskSummary>(), createKept<AssetId, Asset>()];
  onUndone(() => {
    summaries.forgetEnded();
    assets.forgetEnded();
  });
  return {
    summaries: summaries satisfies Kept<TaskId, TaskSummary>,
    assets: assets satisfies Kept<AssetId, Asset>,
    /** Keeps what a transition completes. Called in its transaction: nothing else is read before its commit. */
    completed(task: Task, { ending, assets: made }: Transition, before: Before): void {
      if (ending?.status !== "completed") return;
      summaries.addEnded(task.id, summaryOf(task, ending, before));
      for (const asset of made) assets.addEnded(asset.id, stored(asset));
    },
    forget(id: TaskId, ofAssets: readonly AssetId[]): void {
      summaries.forget(id);
      for (const asset of ofAssets) assets.forget(asset);
    },
    forgetAll(): void {
      summaries.forgetAll();
      assets.forgetAll();
    },
  };
}

/** What of the task's row may be later than its lease. */
type Before = Pick<TaskRow, "cancel_requested" | "started_at">;

/** What the row of a task that this completes has in it. */
function summaryOf(task: Task, ending: Ending, before: Before): TaskSummary {
  const { id, accountId, kind, model, held, createdAt, parent } = task;
  const { status, results, resultIssues, error, charged, usage, completedAt } = ending;
  return {
    ...{ id, accountId, kind, model, status, progress: 100, cancelRequested: before.cancel_requested === 1 },
    ...{ results, resultIssues, error, held, charged, usage },
    ...{
      createdAt,
      startedAt: before.started_at ?? undefined,
      completedAt,
      filesRemovedAt: undefined,
      parent,
    },
  };
}

/** What the row of an asset has of it: of a file, more is known at first. */
function stored({ id, accountId, taskId, role, index, createdAt, ...file }: Asset): Asset {
  const { sha256, sizeBytes, type, width, height, durationMs } = file;
  return {
    id,
    accountId,
    taskId,
    role,
    index,
    sha256,
    sizeBytes,
    type,
    width,
    height,
    durationMs,
    createdAt,
  };
}

/** Keeps the latest that were read, and apart from them the latest that ended and were not read yet, so that neither displaces the other. */
function createKept<Id, Value>() {
  const [read, ended] = [createLatest<Id, Value>(MOST_READ), createLatest<Id, Value>(MOST_ENDED)];
  return {
    get(id: Id): Value | undefined {
      const known = read.get(id);
      if (known !== undefined) return known;
      const fresh = ended.get(id);
      if (fresh === undefined) return undefined;
      ended.forget(id);
      read.add(id, fresh);
      return fresh;
    },
    add: read.add,
    addEnded: ended.add,
    forgetEnded: ended.forgetAll,
    forget(id: Id): void {
      read.forget(id);
      ended.forget(id);
    },
    forgetAll(): void {
      read.forgetAll();
      ended.forgetAll();
    },
  };
}

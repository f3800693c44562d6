import type { TaskId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import { assetPath } from "../../domain/media/asset.ts";
import { CURRENCY, formatAmount } from "../../domain/money/money.ts";
import type { Preview } from "../../domain/task/preview.ts";
import type { ResultIssue } from "../../domain/task/result-issue.ts";
import { isTerminal } from "../../domain/task/task.ts";
import type { TaskReading } from "../../service/read-task.ts";

const seconds = (ms: number) => Math.floor(ms / 1000);

/** `data` of a status answer (docs/api.md 4.5); the message of a failed video is in `error`, of an image in `error_message`. */
export function presentTask(task: TaskReading, origin: string): JsonObject {
  const data: Record<string, JsonObject[string]> = {
    task_id: task.id,
    status: task.status,
    progress: task.progress,
    model: task.model,
    created_at: seconds(task.createdAt),
  };
  if (task.parent !== undefined) data.parent_id = task.parent.id;
  if (task.queuePosition !== undefined) data.queue_position = task.queuePosition;
  if (task.cancelRequested && !isTerminal(task.status)) data.cancel_requested = true;
  if (task.status === "completed") {
    data.result = task.results.map(({ assetId, type }) => origin + assetPath({ id: assetId, type }));
    if (task.resultIssues !== undefined) data.result_issues = presentIssues(task.resultIssues);
  }
  if (task.completedAt !== undefined) data.completed_at = seconds(task.completedAt);
  if (task.status === "completed" && task.filesRemovedAt !== undefined)
    data.files_removed_at = seconds(task.filesRemovedAt);
  if (task.error !== undefined) {
    data.error_code = task.error.code;
    data[task.kind === "video" ? "error" : "error_message"] = task.error.message;
  }
  if (task.charged !== undefined) data.usage = { cost: formatAmount(task.charged), currency: CURRENCY };
  return data;
}

/** The results that are missing (docs/api.md 4.5). */
export function presentIssues(issues: readonly ResultIssue[]): JsonObject[] {
  return issues.map(({ index, code, message }) => ({ index, code, message }));
}

/** One task of a listing: its status and its kind, which decides the path to read it at. */
export function presentListedTask(task: TaskReading, origin: string): JsonObject {
  return { ...presentTask(task, origin), kind: task.kind };
}

/** An early version of one of a task's outputs, without its bytes. */
export function presentPreview(id: TaskId, { index, outputIndex, type }: Preview): JsonObject {
  const ofOutput = outputIndex === undefined ? {} : { output_index: outputIndex };
  return { task_id: id, index, ...ofOutput, media_type: type };
}

import type { AppError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { type Asset, assetPath } from "../../../domain/media/asset.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { GenerationRequest } from "../../../domain/task/request.ts";
import { isTerminal, type TaskSummary } from "../../../domain/task/task.ts";
import type { TaskReading } from "../../../service/read-task.ts";
import { toldError } from "./manners.ts";

export interface OutputDeps {
  readonly tasks: Pick<TaskStore, "assetById" | "requestOf">;
}

/** The outputs of a completed task, in that API's shape. Unknown values are left out. */
export async function outputOf(
  { tasks }: OutputDeps,
  task: TaskSummary,
  origin: string,
): Promise<JsonObject> {
  const found = await Promise.all(task.results.map(({ assetId }) => tasks.assetById(assetId)));
  const files = found.flatMap((asset) => (asset === undefined ? [] : [fileOf(asset, origin)]));
  const request = await tasks.requestOf(task);
  const inferenceSec = inferenceOf(task);
  const more = {
    ...seedOf(request),
    ...(request?.prompt !== undefined && { prompt: request.prompt }),
    ...(inferenceSec !== undefined && { timings: { inference: inferenceSec } }),
  };
  if (task.kind === "image") {
    // What a provider's check finds does not become a result here.
    return { images: files, has_nsfw_concepts: files.map(() => false), ...more };
  }
  const [video = null, ...others] = files;
  return { video, ...(others.length > 0 && { videos: files }), ...more };
}

/** What is told of a file, at this service or elsewhere. */
export function fileOf(asset: Asset, origin: string): JsonObject {
  const { type, sizeBytes, width, height, durationMs } = asset;
  const path = assetPath(asset);
  return {
    url: origin + path,
    content_type: type,
    file_name: path.slice(path.lastIndexOf("/") + 1),
    file_size: sizeBytes,
    width,
    height,
    ...(durationMs !== undefined && { duration: durationMs / 1000 }),
  };
}

/** The one that was asked for: what a model chose by itself is not known. */
function seedOf(request: GenerationRequest | undefined): JsonObject {
  const seed = request?.parameters.seed;
  return typeof seed === "number" ? { seed } : {};
}

/** Seconds from the first submission to the end. */
function inferenceOf({ startedAt, completedAt }: TaskSummary): number | undefined {
  if (startedAt === undefined || completedAt === undefined) return undefined;
  return Math.max(0, completedAt - startedAt) / 1000;
}

/** The lines that are known of a task. `shown` of them are left out: a stream has each once. */
export function logsOf(task: TaskSummary, now: number, shown = 0): JsonObject[] {
  const { startedAt, completedAt, progress, status } = task;
  const line = (message: string, at: number, level = "INFO"): JsonObject => ({
    ...{ message, timestamp: new Date(at).toISOString(), level, source: "USER" },
  });
  const lines = [
    ...(startedAt === undefined ? [] : [line("Started.", startedAt)]),
    ...(progress > 0 && status === "processing" ? [line(`${progress} % done.`, now)] : []),
    ...(task.error === undefined ? [] : [line(task.error.message, completedAt ?? now, "ERROR")]),
    ...(status === "completed" ? [line("100 % done.", completedAt ?? now)] : []),
  ];
  return lines.slice(shown);
}

/**
 * The status of a request as JSON, in that API's shape (https://fal.ai/docs/documentation/model-apis/inference/queue, checked
 * 2026-11-27).
 * @param addresses as `addressesOf` has them
 * @param failure why a task that has ended has no result
 */
export function statusOf(
  task: TaskReading,
  addresses: string,
  logs: readonly JsonObject[] | undefined,
  failure: AppError | undefined,
): string {
  const base = `"request_id":"${task.id}",${addresses}`;
  if (task.status === "pending")
    return `{"status":"IN_QUEUE",${base},"queue_position":${task.queuePosition ?? 0}}`;
  const told = `,"logs":${logs === undefined ? null : JSON.stringify(logs)}`;
  if (!isTerminal(task.status)) return `{"status":"IN_PROGRESS",${base}${told}}`;
  const metrics = `{"inference_time":${inferenceOf(task) ?? null}}`;
  return `{"status":"COMPLETED",${base}${told},"metrics":${metrics}${failure === undefined ? "" : failureText(failure)}}`;
}

function failureText(failure: AppError): string {
  return `,"error":${JSON.stringify(failure.message)},"error_type":${JSON.stringify(toldError(failure).type)}`;
}

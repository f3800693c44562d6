import { haveSameMembers, type JsonObject } from "../../../domain/json.ts";
import type { Asset } from "../../../domain/media/asset.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { GenerationRequest } from "../../../domain/task/request.ts";
import { isTerminal, type NewTask, type TaskStatus, type TaskSummary } from "../../../domain/task/task.ts";
import { describe } from "../../../domain/words/words.ts";
import { wishOf } from "../../../service/fit-video.ts";

/** A task's status in that API's words, which has none for what its owner ended. */
export const VIDEO_STATUS = {
  pending: "queued",
  processing: "in_progress",
  completed: "completed",
  failed: "failed",
  cancelled: "failed",
} as const satisfies Record<TaskStatus, string>;

/** `error.code` of a task that its owner cancelled. */
export const CANCELLED = "CANCELLED";

/** What is not known yet of a video, because its model decides it. */
export const UNKNOWN = "auto";

/** A task, what it was asked for, and its video where it is made. */
interface ToldVideo {
  readonly task: TaskSummary;
  readonly request: GenerationRequest;
  readonly video?: Asset | undefined;
}

/** A task in that API's shape (docs/api.md 5.8); undefined for one that was deleted meanwhile. */
export type TellVideo = (task: TaskSummary) => Promise<JsonObject | undefined>;

export function createTellVideo({
  tasks,
}: {
  readonly tasks: Pick<TaskStore, "assetById" | "requestOf">;
}): TellVideo {
  /** Clients ask for what has ended, too. The store has the same summary of it as long as nothing of it changes. */
  const ended = new WeakMap<TaskSummary, JsonObject>();
  return async (task) => {
    const known = ended.get(task);
    if (known !== undefined) return known;
    const [first] = task.results;
    const video = first && (await tasks.assetById(first.assetId));
    const request = await tasks.requestOf(task);
    if (request === undefined) return undefined;
    const told = presentVideo({ task, request, video });
    if (isTerminal(task.status)) ended.set(task, told);
    return told;
  };
}

/** What parameters say about a video's size and length: the size, and the members that tell both. */
function wishedBy(parameters: GenerationRequest["parameters"]) {
  const { size = UNKNOWN, seconds = UNKNOWN } = wishOf({ parameters });
  return { parameters, size, members: `"size":"${size}","seconds":"${seconds}"` };
}

/** What the latest video was asked for, which most leave to the model. */
let latest = wishedBy({});

/** A task that was stored just now, as JSON, and the size that it has there: to make an object of it first takes twice as long. */
export function presentNewVideo(task: NewTask): { readonly text: string; readonly size: string } {
  const { id, model, createdAt, parent, request } = task;
  if (!haveSameMembers(latest.parameters, request.parameters)) latest = wishedBy(request.parameters);
  const { size, members } = latest;
  const prompt = request.prompt === undefined ? "null" : JSON.stringify(request.prompt);
  const remixed = parent?.relation === "remix" ? `"${parent.id}"` : "null";
  // One text of many parts is joined sooner than one of texts that are joined themselves. Ids of models need no quoting.
  const text = `{"id":"${id}","object":"video","model":"${model}","status":"queued","progress":0,"created_at":${toSeconds(createdAt)},"completed_at":null,"expires_at":null,"prompt":${prompt},${members},"remixed_from_video_id":${remixed},"error":null}`;
  return { text, size };
}

/** Size and length are what was made, else what was asked for. */
function presentVideo({ task, request, video }: ToldVideo): JsonObject {
  const asked = wishOf(request);
  const seconds = video?.durationMs === undefined ? asked.seconds : Math.round(video.durationMs / 1000);
  return {
    id: task.id,
    object: "video",
    model: task.model,
    status: VIDEO_STATUS[task.status],
    progress: task.progress,
    created_at: toSeconds(task.createdAt),
    completed_at: task.completedAt === undefined ? null : toSeconds(task.completedAt),
    expires_at: expiresAt(task, request),
    prompt: request.prompt ?? null,
    size: video === undefined ? (asked.size ?? UNKNOWN) : `${video.width}x${video.height}`,
    seconds: seconds === undefined ? UNKNOWN : String(seconds),
    remixed_from_video_id: task.parent?.relation === "remix" ? task.parent.id : null,
    error: errorOf(task),
  };
}

/** When the files go, or went: where the creator said how long they stay, or where they are gone. */
function expiresAt(
  { status, completedAt, filesRemovedAt }: TaskSummary,
  { retainSec }: GenerationRequest,
): number | null {
  if (filesRemovedAt !== undefined) return toSeconds(filesRemovedAt);
  if (status !== "completed" || completedAt === undefined || retainSec === undefined) return null;
  return toSeconds(completedAt) + retainSec;
}

function errorOf({ id, status, error }: TaskSummary): JsonObject | null {
  if (status === "cancelled")
    return { code: CANCELLED, message: describe({ kind: "task_cancelled", task: id }, (field) => field) };
  return error === undefined ? null : { code: error.code, message: error.message };
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

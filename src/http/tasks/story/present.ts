import type { JsonObject } from "../../../domain/json.ts";
import { type Asset, assetPath } from "../../../domain/media/asset.ts";
import { CURRENCY, formatAmount } from "../../../domain/money/money.ts";
import type { MediaInput } from "../../../domain/task/request.ts";
import { adviceOf, type ToldCallback, verdictOf } from "../../../domain/task/story.ts";
import type { Attempt, Task } from "../../../domain/task/task.ts";
import type { StoryReading } from "../../../service/read-story.ts";
import { presentListedTask } from "../present.ts";

const iso = (ms: number) => new Date(ms).toISOString();

/** `data` of a task's story (docs/api.md 4.10), without the parts that only its owner or an operator may see. */
export function presentStory(story: StoryReading, origin: string): JsonObject {
  const { task, key, timeline, attempts, charge, refunded, callback, queuePosition } = story;
  return {
    ...presentListedTask({ ...task, queuePosition }, origin),
    request_id: task.requestId,
    key: { id: key.id, name: key.name },
    hold: { amount: formatAmount(task.held), currency: CURRENCY },
    request: presentRequest(story, origin),
    deadline_at: task.deadlineAt === undefined ? undefined : Math.floor(task.deadlineAt / 1000),
    timeline: timeline.map(({ stage, at, durationMs }) => ({ stage, at: iso(at), duration_ms: durationMs })),
    attempts: attempts.map((attempt) => presentAttempt(task, attempt)),
    callbacks: callback === undefined ? [] : [presentToldCallback(callback)],
    charge: charge?.map(({ sku, quantity, amount }) => ({ sku, quantity, amount: formatAmount(amount) })),
    refund: refunded === undefined ? undefined : { amount: formatAmount(refunded), currency: CURRENCY },
    advice: task.error === undefined ? undefined : adviceOf(task.error.code),
  };
}

/** The same for the task's owner, who chose the address of its callback. */
export function presentOwnStory(story: StoryReading, origin: string): JsonObject {
  const { callbackUrl } = story.task;
  const request = { ...presentRequest(story, origin), callback_url: callbackUrl };
  return { ...presentStory(story, origin), request };
}

function presentRequest({ task: { request }, inputs }: StoryReading, origin: string): JsonObject {
  const { mode, prompt, n, parameters } = request;
  const files = new Map(inputs.map((asset) => [asset.id, asset]));
  return {
    mode,
    prompt,
    n,
    parameters,
    inputs: request.inputs.map((input) => presentInput(input, files, origin)),
  };
}

function presentInput(
  { param, source }: MediaInput,
  files: ReadonlyMap<Asset["id"], Asset>,
  origin: string,
): JsonObject {
  if (source.kind === "url") return { field: param, url: withoutQuery(source.url) };
  const asset = files.get(source.assetId);
  // Its file was removed, or the task whose result it was.
  if (asset === undefined) return { field: param };
  const { type, sizeBytes, width, height, durationMs } = asset;
  const pixels = width > 0 ? { width, height } : {};
  const size = { media_type: type, size_bytes: sizeBytes, ...pixels, duration_ms: durationMs };
  return { field: param, ...size, url: origin + assetPath(asset) };
}

/** The query of an address may be a secret that gives access to a file. */
function withoutQuery(address: string): string {
  const url = URL.parse(address);
  return url === null ? address : url.origin + url.pathname;
}

/** An attempt without its route, and without anything its provider said. */
export function presentAttempt(task: Task, attempt: Attempt): JsonObject {
  const { outcome, errorCode, message } = verdictOf(task, attempt);
  return {
    number: attempt.sequence,
    started_at: iso(attempt.startedAt),
    ended_at: attempt.endedAt === undefined ? undefined : iso(attempt.endedAt),
    outcome,
    error_code: errorCode,
    message,
  };
}

function presentToldCallback({ callback, lastSend }: ToldCallback): JsonObject {
  const { id, host, state, attempts, dueAt } = callback;
  return {
    id,
    host,
    state,
    attempts,
    next_attempt_at: state === "pending" ? iso(dueAt) : undefined,
    last_status: lastSend?.status,
    last_outcome: lastSend?.outcome,
  };
}

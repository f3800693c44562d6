import type { TaskId } from "../ids.ts";
import { MAX_CALLBACK_REDELIVERIES, MAX_IDEMPOTENCY_KEY } from "../limits.ts";
import type { WithoutThumbnail } from "../media/thumbnail.ts";
import type { FollowUp } from "../model/follow-up.ts";
import type { Mode } from "../model/model.ts";
import { CURRENCY, formatAmount, type Micros, maxMicros, ZERO } from "../money/money.ts";
import { MAX_GROUP_TASKS } from "../task/group-terms.ts";
import type { TaskKind } from "../task/request.ts";
import { modeNames } from "./mode-words.ts";
import { article, cut, either, type Field, type NameOf, type WordTable } from "./say.ts";

const FOLLOW_UP_WORDS: Readonly<Record<FollowUp | "edit", string>> = {
  edit: "change an earlier video",
  extend: "go on where an earlier video ends",
  upscale: "make this result larger",
};

interface Of {
  /** The model's id. */
  readonly model: string;
}

interface Listed {
  /** Where the caller's API lists the models; absent: at `/v1/models`. */
  readonly list?: string | undefined;
}

const MODELS = "/v1/models";

const NO_THUMBNAIL: Readonly<Record<WithoutThumbnail, string>> = {
  sound: "A recording of sound has no thumbnail.",
  codec: "The pictures of this video cannot be decoded here, so it has no thumbnail; show the video itself.",
  damaged: "This file cannot be decoded, so it has no thumbnail.",
};

/** Why a request for images or videos is refused, or ends without a result. */
export const TASK_WORDS = {
  model_unusable: ({ field, list = MODELS }: Field & Listed, name: NameOf) =>
    `${name(field)} must be the id of a model; GET ${list} lists them.`,
  /** `near` is the name of the model that was probably meant. */
  model_unknown: ({ model, near, list = MODELS }: Of & Field & Listed & { near?: string | undefined }) =>
    near === undefined
      ? `There is no model "${cut(model)}"; GET ${list} lists those available.`
      : `There is no model "${cut(model)}". Did you mean "${near}"?`,
  model_of_other_kind: ({ model, makes, path }: Of & Field & { makes: TaskKind; path: string }) =>
    `"${model}" is ${article(makes)} model; send this request to POST ${path}.`,
  model_of_other_tool: ({ model, makes, tool }: Of & Field & { makes: TaskKind; tool: string }) =>
    `"${model}" is ${article(makes)} model; use the tool ${tool}.`,
  no_image_model: () => "No model that this key may use makes images from a prompt at present.",
  video_model_here: ({ model }: Of & Field) =>
    `"${model}" is a video model; create a task with POST /v1/videos/generations.`,
  image_model_here: ({ model }: Of & Field) =>
    `"${model}" is an image model; send this request to POST /compat/v1/images/generations.`,
  model_without_provider: ({ model, list = MODELS }: Of & Field & Listed) =>
    `The model "${model}" is not available at present; GET ${list} lists those that are.`,
  no_mode: ({ model, modes }: Of & { modes: readonly Mode[] }) =>
    `The inputs given fit no mode of ${model}: it does ${modeNames(modes)}.`,

  unpriced: ({ model }: Of) =>
    `There is no price for this request of ${model}; GET /v1/models/${model} lists what has one.`,
  insufficient: ({
    needed,
    available,
    limitedBy,
  }: {
    needed: Micros;
    available: Micros;
    limitedBy: "balance" | "key_quota";
  }) => {
    const isBalance = limitedBy === "balance";
    const owner = isBalance ? "the account has" : "the quota of this API key has";
    // A quota that was lowered can be less than what was spent of it.
    const left = isBalance ? available : maxMicros(available, ZERO);
    return `This request needs ${formatAmount(needed)} ${CURRENCY}; ${owner} ${formatAmount(left)} available.`;
  },
  above_max_cost: ({ field, cost, most }: Field & { cost: Micros; most: Micros }, name: NameOf) =>
    `This request costs up to ${formatAmount(cost)} ${CURRENCY}, which is more than ${name(field)} allows, ${formatAmount(most)}.`,
  max_cost_needed: ({ field, cost, above }: Field & { cost: Micros; above: Micros }, name: NameOf) =>
    `This request costs up to ${formatAmount(cost)} ${CURRENCY}. Above ${formatAmount(above)}, ${name(field)} is required: give it to agree to the price.`,
  quantity_uncountable: ({ quantity }: { quantity: number }) =>
    `quantity ${quantity} comes to more than can be counted.`,
  too_many_tasks: ({ concurrency }: { concurrency: number | undefined }) =>
    `This API key may have ${concurrency} tasks at once, and has them. Wait until one ends.`,
  group_above_concurrency: ({ tasks, concurrency }: { tasks: number; concurrency: number }) =>
    `This group makes ${tasks} tasks at once, and this API key may have ${concurrency}.`,
  disk_low: () =>
    "The disk of the service is nearly full, and it takes no new tasks at this moment; send the request again later.",
  draining: () => "The service takes no new tasks at this moment; send the request again in a few seconds.",
  queue_too_long: ({ model, limitSec, retryAfterSec }: Of & { limitSec: number; retryAfterSec: number }) =>
    `One more task of this account for ${model} would wait longer than ${limitSec} s for its start. Send the request again in ${retryAfterSec} s.`,

  content_refused: ({ field }: { field?: string | undefined }, name: NameOf) =>
    `The content policy of this service refuses ${field === undefined ? "this request" : name(field)}.`,
  moderation_unavailable: () =>
    "The check of this request's content cannot be made at this moment; send it again in a few seconds.",

  idempotency_key_unusable: ({ length }: { length: number }) =>
    `Idempotency-Key must be 1 to ${MAX_IDEMPOTENCY_KEY} printable ASCII characters; got ${length} characters.`,
  idempotency_keys_differ: () =>
    "The request has two Idempotency-Key headers that differ, or one with a comma and a space, which cannot be told from two.",
  idempotency_in_progress: () => "The first request with this Idempotency-Key is still being processed.",
  idempotency_conflict: () =>
    "This Idempotency-Key was already used for a request with a different body. Use a new key for a new request.",

  search_off: ({ field }: Field, name: NameOf) =>
    `${name(field)} cannot be used: this server does not search prompts (search.prompts is off).`,
  task_unknown: () => "There is no such task in this account.",
  group_unknown: () => "There is no such group in this account.",
  group_too_large: ({ field, members }: Field & { members: number }, name: NameOf) =>
    `${name(field)} asks for ${members} tasks; a group has ${MAX_GROUP_TASKS} at most.`,
  group_empty: ({ field }: Field, name: NameOf) => `${name(field)} or requests must say what to make.`,
  group_field_twice: ({ field }: Field, name: NameOf) =>
    `${name(field)} cannot be given: the request says it in another place.`,
  task_over: ({ status }: { status: string }) => `The task has already ended as ${status}.`,
  task_live: ({ status }: { status: string }) =>
    `The task is ${status}; it can be retried once it has ended.`,
  variation_seedless: ({ model }: { model: string }) =>
    `${model} takes no seed, so it would make no other results of the same request; retry the task instead.`,
  /** `able`: the models that can do it, among those that the caller may use. */
  follow_up_unable: (
    {
      field,
      model,
      followUp,
      able,
    }: Field & { model?: string | undefined; followUp: FollowUp | "edit"; able: readonly string[] },
    name: NameOf,
  ) => {
    const what = FOLLOW_UP_WORDS[followUp];
    const cannot = model === undefined ? `No model was found that can ${what}` : `${model} cannot ${what}`;
    const way =
      able.length === 0 ? "no model here can" : `name one that can in ${name(field)}: ${either(able)}`;
    return `${cannot}; ${way}.`;
  },
  follow_up_of_image: ({ task }: { task: TaskId }) =>
    `Task ${task} made no video; only videos can be extended.`,
  follow_up_source: ({ field }: Field, name: NameOf) =>
    `${name(field)} cannot be given: it takes the result of the task.`,
  task_undeletable: ({ status }: { status: string }) =>
    `The task is ${status}; cancel it, and delete it once it has ended.`,
  task_cancelled: ({ task }: { task: TaskId }) => `Task ${task} was cancelled.`,
  /** In the words that are stored with the task. */
  task_failed: ({ task, error }: { task: TaskId; error: { code: string; message: string } }) =>
    `${error.message} (${error.code}, task ${task})`,
  task_goes_on: ({ task }: { task: TaskId }) =>
    `The image is not ready yet. Task ${task} goes on; read its result with GET /v1/images/status/${task}.`,
  task_goes_on_later: ({ task }: { task: TaskId }) =>
    `The service restarts. Task ${task} goes on afterwards; send the request again, or read GET /v1/images/status/${task}.`,
  task_unread: ({ task }: { task: TaskId }) =>
    `Task ${task} was accepted and goes on, but it cannot be read at present. Read it later: GET /v1/tasks/${task}.`,
  video_unready: ({ task, status }: { task: TaskId; status: string }) =>
    `Task ${task} is ${status}; a video can be read once it is completed.`,
  video_unmade: ({ task, status }: { task: TaskId; status: string }) =>
    `Task ${task} is ${status}, so there is no video.`,
  result_lost: ({ task }: { task: TaskId }) => `A result of task ${task} is no longer stored.`,
  hook_unknown: () => "There is no such address.",
  file_unknown: () => "There is no such file.",
  thumbnail_none: ({ why }: { why: WithoutThumbnail }) => NO_THUMBNAIL[why],
  thumbnails_busy: () => "Too many thumbnails are waited for at this moment; ask again in a second.",

  callback_unknown: () => "There is no such callback in this account.",
  callback_exhausted: () =>
    `This callback was redelivered ${MAX_CALLBACK_REDELIVERIES} times, which is the most.`,
  callbacks_unselected: ({ given }: Field & { given: "neither" | "both" }) =>
    `Say which callbacks: either task_id alone, or from with or without to, state and after; got ${
      given === "both" ? "both" : "neither task_id nor from"
    }.`,

  estimate_without_model: ({ field }: Field, name: NameOf) =>
    `${name(field)} is required: send a create body, or {"endpoint", "request", "quantity"} with one in request.`,
} satisfies WordTable;

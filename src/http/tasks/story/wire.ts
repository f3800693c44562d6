import { CALLBACK_STATES } from "../../../domain/callback/callback.ts";
import { MAX_FORM_ATTEMPTS } from "../../../domain/limits.ts";
import { MEDIA_TYPES } from "../../../domain/media/asset.ts";
import { ATTEMPT_OUTCOMES, TOLD_STAGES } from "../../../domain/task/story.ts";
import { contract, jsonBody, succeeds } from "../../openapi/contract.ts";
import { ROUTING_HEADERS } from "../../routing.ts";
import { TASK_ERROR_CODE } from "../../wire/errors.ts";
import {
  closed,
  integer,
  list,
  openEnum,
  optional,
  type Properties,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { amount, CURRENCY_SCHEMA, idOf, unixSeconds } from "../../wire/values.ts";
import { LISTED_TASK_FIELDS, TASK_ID, taskSchema } from "../wire.ts";

const time = (description: string) =>
  text(`${description} ISO 8601, UTC, with milliseconds.`, { format: "date-time" });

const INPUT = closed(
  {
    field: text("Path of the field that named it: `image_urls[2]`, or `task_id`."),
    media_type: text("", { enum: Object.keys(MEDIA_TYPES) }),
    size_bytes: integer("", { minimum: 0 }),
    width: integer("Pixels.", { minimum: 1 }),
    height: integer("Pixels.", { minimum: 1 }),
    duration_ms: integer("Of a video, a recording or an animated GIF.", { minimum: 0 }),
    url: text("Its file here; before it is fetched, the address that was given, without its query.", {
      format: "uri",
    }),
  },
  {
    optional: ["media_type", "size_bytes", "width", "height", "duration_ms", "url"],
    description: "What is absent is not known before the file is fetched, or was removed with it.",
  },
);

/** The accepted request, without anything that only its owner may know. */
export const ACCEPTED_REQUEST: Properties = {
  mode: text("The model's mode that the inputs chose."),
  prompt: text("The whole prompt."),
  n: integer("Results asked for.", { minimum: 1 }),
  parameters: {
    type: "object",
    additionalProperties: true,
    description: "The model's other fields as they were given, with their defaults.",
  },
  inputs: list(INPUT, { description: "Media inputs, without their content." }),
};

export const CALLBACK_URL = text("Where the end of the task is posted.");

const STAGE = closed(
  {
    stage: openEnum(
      TOLD_STAGES,
      "`queued`: it waits, or its inputs are fetched. `submitting`: it is sent to a provider. `running`: the provider has it. `finalizing`: its files are fetched. `ended`.",
    ),
    at: time("When it began."),
    duration_ms: integer("How long it took; of the last one, how long it has taken so far.", { minimum: 0 }),
  },
  { optional: ["duration_ms"] },
);

/** What every reader of a task learns about an attempt. */
export const ATTEMPT_FIELDS: Properties = {
  number: integer("From 1.", { minimum: 1 }),
  started_at: time("When it began."),
  ended_at: time("When it was over."),
  outcome: openEnum(
    ATTEMPT_OUTCOMES,
    "`refused`: the provider did not take it, and it cost nothing. `unanswered`: its answer was lost. `failed` and not the last: the provider took it and failed, which cost nothing. Otherwise what became of the task with it.",
  ),
  error_code: TASK_ERROR_CODE,
  message: text("What went wrong, safe to show."),
};
export const OPTIONAL_OF_ATTEMPT = ["ended_at", "error_code", "message"];

export const CALLBACK = closed(
  {
    id: idOf("cb", "Id of the callback; `GET /v1/callbacks/{id}` has each send."),
    host: text("The host it goes to."),
    state: text("Whether it was acknowledged, may still be, or is given up.", { enum: CALLBACK_STATES }),
    attempts: integer("Attempts begun so far.", { minimum: 0, maximum: MAX_FORM_ATTEMPTS }),
    next_attempt_at: time("When the next attempt is due. While `pending` only."),
    last_status: integer("HTTP status of the latest answer."),
    last_outcome: text("What became of the latest send."),
  },
  { optional: ["next_attempt_at", "last_status", "last_outcome"] },
);

/** The lines of a charge. */
export const CHARGE_LINES = list(
  closed({
    sku: text("The line of the price."),
    quantity: { type: "number", description: "In the units of that line." },
    amount: amount("What it came to."),
  }),
);

/** What a story says about the task itself, for every reader. */
export const toldFields = (request: Properties): Properties => ({
  ...LISTED_TASK_FIELDS,
  request_id: text("`X-Request-ID` of the create."),
  key: closed(
    { id: idOf("key", "Id of the key."), name: text("What people call it.") },
    { description: "The key that created it." },
  ),
  request: closed(request, { optional: ["prompt", "callback_url"] }),
  deadline_at: unixSeconds("When the task fails unless it has ended. Once it was started."),
  timeline: list(STAGE, { minItems: 1, description: "Stages in order, as far as their times are known." }),
  advice: text("What to do about the error, in one sentence. With `failed` only."),
});
export const OPTIONAL_OF_TASK = ["deadline_at", "advice"];

/** What a story adds to a listed task, for every reader. */
export function storyFields(of: {
  readonly attempt: { readonly fields: Properties; readonly optional: readonly string[] };
  readonly request: Properties;
}): Properties {
  return {
    ...toldFields(of.request),
    hold: closed(
      { amount: amount("Held when the task was accepted: the most it can cost."), currency: CURRENCY_SCHEMA },
      { description: "Released or charged once the task has ended." },
    ),
    attempts: list(closed(of.attempt.fields, { optional: of.attempt.optional }), {
      description: "Submissions to providers, in order.",
    }),
    callbacks: list(CALLBACK, { description: "What is posted at the end of the task: one, or none." }),
    charge: {
      ...CHARGE_LINES,
      description: "The lines that `usage.cost` is the sum of. Once the task was charged.",
    },
    refund: closed(
      { amount: amount("Given back of the charge, once."), currency: CURRENCY_SCHEMA },
      { description: "Of a task that was refunded; `usage.cost` stays what it was." },
    ),
  };
}
export const OPTIONAL_OF_STORY = [...OPTIONAL_OF_TASK, "charge", "refund"];

const TASK_STORY = taskSchema("TaskStory", ["error_message", "error"], {
  fields: storyFields({
    attempt: { fields: ATTEMPT_FIELDS, optional: OPTIONAL_OF_ATTEMPT },
    request: { ...ACCEPTED_REQUEST, callback_url: CALLBACK_URL },
  }),
  optional: OPTIONAL_OF_STORY,
});

/** Nothing of the request can be changed. */
export const RETRY: Schema = { title: "RetryTask", ...optional({}, { additionalProperties: false }) };

export const RETRY_TASK = contract("retryTask", "Tasks", "Create a task like one that has ended", {
  description:
    "The request of the task goes through its create anew: at the price and by the limits of today, with the same parameters, prompt, `callback_url` and input files. No field of it can be changed, so that the body is `{}` or left out. Completed tasks can be retried as well as those that failed or were cancelled.",
  path: { task_id: TASK_ID },
  body: jsonBody(RETRY),
  isBodyOptional: true,
  headers: ROUTING_HEADERS,
  isIdempotent: true,
  answers: succeeds(
    "The task is accepted.",
    closed({ task_id: TASK_ID, retry_of: idOf("task", "The task that was retried.") }),
    ["X-Request-Cost", "X-Idempotent-Replay"],
  ),
  errors: [
    ...(["invalid_request", "insufficient_quota", "permission_denied", "model_not_available"] as const),
    ...(["task_not_found", "task_not_retryable", "rate_limit_exceeded"] as const),
    ...(["content_policy_violation", "moderation_unavailable", "disk_low"] as const),
  ],
});

export const READ_STORY = contract("readTask", "Tasks", "Read everything about a task", {
  description: `A task of either kind, with its request, its stages, its attempts, its money and its callback. A task that is unknown or another account's is not there.`,
  path: { task_id: TASK_ID },
  answers: succeeds("The task as it stands.", TASK_STORY),
  errors: ["task_not_found"],
});

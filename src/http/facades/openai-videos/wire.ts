import { TASK_ERROR_CODES } from "../../../domain/errors.ts";
import { MAX_LIST_LIMIT } from "../../../domain/limits.ts";
import { ownDownloads, RANGE_HEADERS } from "../../assets/wire.ts";
import { contract, jsonAnswer, jsonBody } from "../../openapi/contract.ts";
import { ROUTING_HEADERS } from "../../routing.ts";
import { TASK_ID } from "../../tasks/wire.ts";
import {
  closed,
  component,
  integer,
  list,
  nullable,
  openEnum,
  optional,
  type Properties,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { unixSeconds } from "../../wire/values.ts";
import { VARIANTS } from "./content.ts";
import { CANCELLED, VIDEO_STATUS } from "./present.ts";

const TAG = "Compatible videos";

const VIDEO_ID = { ...TASK_ID, description: "Id of the video, which is the id of its task." };

/** A video as clients of that API read it (docs/api.md 5.8). */
const VIDEO = component("CompatibleVideo", {
  id: VIDEO_ID,
  object: text("", { const: "video" }),
  model: text("Id of the model."),
  status: text("", { enum: [...new Set(Object.values(VIDEO_STATUS))] }),
  progress: integer("Percent.", { minimum: 0, maximum: 100 }),
  created_at: unixSeconds("When the task was accepted."),
  completed_at: nullable(unixSeconds("When the task ended.")),
  expires_at: nullable(
    unixSeconds("When its files go, where `retain_seconds` of the create says so, or when they went."),
  ),
  prompt: nullable(text("As it was given.")),
  size: text(
    "`<width>x<height>` of what was made; until then of what was asked for, and `auto` where the model decides it.",
  ),
  seconds: text("The same of its length, in whole seconds."),
  remixed_from_video_id: nullable(text("The video that it is a remix of.")),
  error: nullable(
    closed(
      {
        code: openEnum(
          [...TASK_ERROR_CODES, CANCELLED],
          "As `error_code` of a task; `CANCELLED` where its owner ended it.",
        ),
        message: text("For people, safe to show."),
      },
      { description: "Why there is no video. With `failed` only." },
    ),
  ),
});

/** Bodies here are open: fields that clients send and neither the model nor this service knows are ignored. */
const open = (required: readonly string[], properties: Properties): Schema => ({
  type: "object",
  required,
  properties,
  additionalProperties: true,
});

const PROMPT = text("What to show.", { minLength: 1 });

const OPTIONS = {
  model: nullable(
    text("Id or alias of a video model; `sora-2` unless given, which is an alias of the operator's.", {
      minLength: 1,
    }),
  ),
  size: nullable(
    text("`<width>x<height>` within what the model can do, or `auto`. The model decides unless given.", {
      examples: ["1280x720"],
    }),
  ),
  seconds: nullable({
    type: ["string", "integer"],
    description: "Length within what the model can do. The model decides unless given.",
    examples: ["8"],
  }),
};

const CREATE: Schema = {
  title: "CreateCompatibleVideo",
  examples: [{ model: "sandbox-video", prompt: "A lighthouse at dusk", size: "1280x720", seconds: "4" }],
  ...open(["prompt"], {
    ...{ prompt: PROMPT, ...OPTIONS },
    input_reference: {
      description: "A picture to begin with: a URL or a base64 data URI.",
      anyOf: [
        { type: "string" },
        open(["image_url"], { image_url: text("A URL or a base64 data URI.") }),
        { type: "null" },
      ],
    },
  }),
};

const CREATE_FORM: Schema = {
  title: "CreateCompatibleVideoForm",
  ...open(["prompt"], {
    ...{ prompt: PROMPT, ...OPTIONS },
    input_reference: {
      type: "string",
      contentMediaType: "application/octet-stream",
      description:
        "A picture to begin with: a PNG, JPEG or WebP file of at most 10 MB, or as text a URL or a base64 data URI. The field may be called `input_reference[image_url]`.",
    },
  }),
};

const REMIX: Schema = { title: "CreateVideoRemix", ...open(["prompt"], { prompt: PROMPT }) };
const REMIX_FORM: Schema = { title: "CreateVideoRemixForm", ...open(["prompt"], { prompt: PROMPT }) };

const SOURCE = {
  description: 'The video: `{"id": …}` of one of the account, or a URL or a base64 data URI.',
  anyOf: [{ type: "string" }, open(["id"], { id: VIDEO_ID })],
};

const SOURCE_IN_FORM = {
  type: "string",
  contentMediaType: "application/octet-stream",
  description:
    "The video: a file of at most 64 MB, or as text a URL or a base64 data URI; or in `video[id]` the id of one of the account.",
};

/** What is made from a video. Its model decides unless told. */
const fromVideo = (title: string, prompt: Schema): readonly [body: Schema, form: Schema] => {
  const { model: _, ...options } = OPTIONS;
  const named = nullable(
    text("Id or alias of a model that can do this; the one that made the video unless given.", {
      minLength: 1,
    }),
  );
  const more = { prompt, model: named, ...options };
  return [
    { title, ...open(["video", "prompt"], { video: SOURCE, ...more }) },
    { title: `${title}Form`, ...open(["prompt"], { video: SOURCE_IN_FORM, ...more }) },
  ];
};

const CREATED = ["X-Request-Cost", "X-Idempotent-Replay"] as const;

const CREATE_ERRORS = [
  ...(["insufficient_quota", "permission_denied", "model_not_found", "task_not_found"] as const),
  ...(["rate_limit_exceeded", "content_policy_violation", "moderation_unavailable", "disk_low"] as const),
];

const NOT_FOUND = "A video that is unknown or another account's, and a task that makes images, is not there.";

export const CREATE_COMPATIBLE_VIDEO = contract("createCompatibleVideo", TAG, "Create a video", {
  description:
    "Makes a task, as `POST /v1/videos/generations` does, and answers at once: read the video until it is `completed` or `failed`. Fields that the model has are taken too, by its own names; others are ignored.",
  body: { ...jsonBody(CREATE), "multipart/form-data": CREATE_FORM },
  headers: ROUTING_HEADERS,
  isIdempotent: true,
  answers: { 200: jsonAnswer("The video, to be made.", VIDEO, [...CREATED, "X-Svc-Adjusted"]) },
  errors: CREATE_ERRORS,
});

/** Clients of that API may send parameters that this service does not know. */
export const LIST_QUERY: Schema = {
  type: "object",
  properties: {
    limit: integer("Videos in the page.", { minimum: 0, maximum: MAX_LIST_LIMIT, default: 20 }),
    order: text("`desc`: the newest first.", { enum: ["asc", "desc"], default: "desc" }),
    after: text("Id of the last video of the page before."),
  },
};

export const LIST_COMPATIBLE_VIDEOS = contract("listCompatibleVideos", TAG, "List videos", {
  description: "The account's video tasks, however they were created.",
  query: LIST_QUERY,
  answers: {
    200: jsonAnswer(
      "One page.",
      closed({
        object: text("", { const: "list" }),
        data: list(VIDEO),
        first_id: nullable(text("Id of the first video of the page.")),
        last_id: nullable(text("Id of the last one: give it as `after` for the next page.")),
        has_more: { type: "boolean", description: "Whether there is another page." },
      }),
    ),
  },
  errors: ["invalid_request"],
});

export const READ_COMPATIBLE_VIDEO = contract("readCompatibleVideo", TAG, "Read a video", {
  description: NOT_FOUND,
  path: { video_id: VIDEO_ID },
  answers: { 200: jsonAnswer("The video as it stands.", VIDEO) },
  errors: ["task_not_found"],
});

export const DELETE_COMPATIBLE_VIDEO = contract("deleteCompatibleVideo", TAG, "Delete a video", {
  description: `Removes a task that has ended, as \`DELETE /v1/tasks/{task_id}\` does. ${NOT_FOUND}`,
  path: { video_id: VIDEO_ID },
  answers: {
    200: jsonAnswer(
      "It is gone.",
      closed({
        id: VIDEO_ID,
        object: text("", { const: "video.deleted" }),
        deleted: { const: true, description: "Always `true`." },
      }),
    ),
  },
  errors: ["task_not_found", "task_not_deletable"],
});

const VARIANT = text(
  "The video itself, its first picture, or up to 16 of its pictures at equal distances in four columns, both in WebP. One whose codec is not decoded here has no pictures: `not_found`.",
  {
    enum: VARIANTS,
    default: "video",
  },
);

export const READ_VIDEO_CONTENT = contract("readVideoContent", TAG, "Download a video", {
  description: `The video of a completed task; of several, the first. ${NOT_FOUND}`,
  path: { video_id: VIDEO_ID },
  query: optional({ variant: VARIANT }),
  headers: RANGE_HEADERS,
  answers: ownDownloads(["video/mp4", "video/webm", "image/webp"]),
  errors: ["invalid_request", "task_not_found", "not_found", "service_unavailable"],
});

export const REMIX_COMPATIBLE_VIDEO = contract("remixCompatibleVideo", TAG, "Remix a video", {
  description: `Makes a task of the same model, with the same parameters and pictures as a completed one, and another prompt. ${NOT_FOUND}`,
  path: { video_id: VIDEO_ID },
  body: { ...jsonBody(REMIX), "multipart/form-data": REMIX_FORM },
  headers: ROUTING_HEADERS,
  isIdempotent: true,
  answers: { 200: jsonAnswer("The video, to be made.", VIDEO, CREATED) },
  errors: CREATE_ERRORS,
});

const made = (id: string, summary: string, description: string, [body, form]: readonly [Schema, Schema]) =>
  contract(id, TAG, summary, {
    description: `${description} Of several results of a task, the first is taken. ${NOT_FOUND}`,
    body: { ...jsonBody(body), "multipart/form-data": form },
    headers: ROUTING_HEADERS,
    isIdempotent: true,
    answers: { 200: jsonAnswer("The video, to be made.", VIDEO, [...CREATED, "X-Svc-Adjusted"]) },
    errors: CREATE_ERRORS,
  });

export const EDIT_COMPATIBLE_VIDEO = made(
  "editCompatibleVideo",
  "Edit a video",
  "Makes a task that changes a video as the prompt says.",
  fromVideo("CreateVideoEdit", text("What to change.", { minLength: 1 })),
);

export const EXTEND_COMPATIBLE_VIDEO = made(
  "extendCompatibleVideo",
  "Extend a video",
  "Makes a task that goes on where a video ends, as `POST /v1/tasks/{task_id}/extend` does.",
  fromVideo("CreateVideoExtend", text("How it goes on.", { minLength: 1 })),
);

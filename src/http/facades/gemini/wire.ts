import { MEDIA_TYPES, type MediaType } from "../../../domain/media/asset.ts";
import { ownDownloads, RANGE_HEADERS } from "../../assets/wire.ts";
import { contract, jsonAnswer, jsonBody } from "../../openapi/contract.ts";
import type { HeaderName } from "../../openapi/headers.ts";
import { ROUTING_HEADERS } from "../../routing.ts";
import { TASK_ID } from "../../tasks/wire.ts";
import { closed, component, list, optional, type Schema, text } from "../../wire/schema.ts";
import { GEMINI } from "./manners.ts";
import {
  FETCH_BODY,
  FETCHED_OPERATION,
  FILE,
  GENERATE_CONTENT_BODY,
  GENERATED,
  MODEL,
  OPERATION,
  OPERATION_NAME,
  PREDICT_BODY,
  PREDICT_LONG_RUNNING_BODY,
  PREDICTIONS,
} from "./schemas.ts";

const TAG = "Gemini";

const MODEL_NAME = text("A model's id or alias, Google's name for it, or `gemini-` and its id.");
const OPERATION_ID = { ...TASK_ID, description: "Id of the task." };
const FILE_NAME = text("The file's name.");

const CREATE_ERRORS = [
  ...(["invalid_request", "insufficient_quota", "permission_denied", "model_not_found"] as const),
  ...(["rate_limit_exceeded", "moderation_unavailable", "disk_low"] as const),
];
export const WAIT_ERRORS = [...CREATE_ERRORS, "sync_image_timeout", "loop_detected"] as const;
export const MADE_HEADERS = [
  ...([
    "X-Request-Cost",
    "X-Idempotent-Replay",
    "X-Task-Id",
    "X-Svc-Adjusted",
    "Preference-Applied",
  ] as const),
] satisfies HeaderName[];

const PICTURES = {
  path: { model: MODEL_NAME },
  headers: ROUTING_HEADERS,
  isIdempotent: true,
  errors: WAIT_ERRORS,
};

export const GENERATE_CONTENT = contract("geminiGenerateContent", TAG, "Make pictures", {
  ...PICTURES,
  description:
    "Answers when the pictures are made. The same request, sent again after a lost connection, joins its task. Content that is refused is no error: the answer says so in place of the pictures.",
  body: jsonBody(GENERATE_CONTENT_BODY),
  answers: { 200: jsonAnswer("The pictures.", GENERATED, MADE_HEADERS) },
});

export const STREAM_GENERATE_CONTENT = contract(
  "geminiStreamGenerateContent",
  TAG,
  "Make pictures, as a stream",
  {
    ...PICTURES,
    description: "The same as a stream of one answer.",
    query: { type: "object", properties: { alt: text("`sse` for server-sent events; else a list.") } },
    body: jsonBody(GENERATE_CONTENT_BODY),
    answers: {
      200: {
        ...jsonAnswer("The pictures.", list(GENERATED), MADE_HEADERS),
        events: { message: { anyOf: [GENERATED, GEMINI.schema] } },
      },
    },
  },
);

export const PREDICT = contract("geminiPredict", TAG, "Make pictures, as Imagen does", {
  ...PICTURES,
  description: "As `generateContent`, in the words of Imagen.",
  body: jsonBody(PREDICT_BODY),
  answers: { 200: jsonAnswer("The pictures.", PREDICTIONS, MADE_HEADERS) },
});

export const PREDICT_LONG_RUNNING = contract("geminiPredictLongRunning", TAG, "Make a video", {
  description: "Accepts a video task.",
  path: { model: MODEL_NAME },
  headers: ROUTING_HEADERS,
  isIdempotent: true,
  body: jsonBody(PREDICT_LONG_RUNNING_BODY),
  answers: { 200: jsonAnswer("Its operation.", OPERATION_NAME, ["X-Request-Cost", "X-Idempotent-Replay"]) },
  errors: [...CREATE_ERRORS, "content_policy_violation"],
});

export const FETCH_OPERATION = contract(
  "geminiFetchPredictOperation",
  TAG,
  "Read a video's operation, with the video",
  {
    description: "For clients of the enterprise edition, which get videos in base64.",
    path: { model: MODEL_NAME },
    body: jsonBody(FETCH_BODY),
    answers: { 200: jsonAnswer("The operation.", FETCHED_OPERATION, ["X-Request-Cost"]) },
    errors: ["task_not_found"],
  },
);

const READ = {
  description: "Any task of the account, whichever API it came by.",
  answers: { 200: jsonAnswer("The operation as it stands.", OPERATION, ["X-Request-Cost"]) },
  errors: ["task_not_found"],
} as const;
export const READ_OPERATION = contract("geminiReadOperation", TAG, "Read an operation", {
  ...READ,
  path: { operation: OPERATION_ID },
});
export const READ_OPERATION_OF_MODEL = contract(
  "geminiReadOperationOfModel",
  TAG,
  "Read an operation by its name",
  {
    ...READ,
    path: { model: MODEL_NAME, operation: OPERATION_ID },
  },
);

const CANCEL = {
  description:
    "Cancels its task. One that is under way is cancelled at its provider first, and may end later.",
  answers: { 200: jsonAnswer("It is asked for.", closed({}), ["X-Request-Cost"]) },
  errors: ["task_not_found", "task_not_cancellable"],
} as const;
export const CANCEL_OPERATION = contract("geminiCancelOperation", TAG, "Cancel an operation", {
  ...CANCEL,
  path: { operation: OPERATION_ID },
});
export const CANCEL_OPERATION_OF_MODEL = contract(
  "geminiCancelOperationOfModel",
  TAG,
  "Cancel an operation by its name",
  { ...CANCEL, path: { model: MODEL_NAME, operation: OPERATION_ID } },
);

/** Clients add parameters of Google's to all queries. */
const PAGE: Schema = {
  type: "object",
  properties: {
    pageSize: text("How many; 50 unless given."),
    pageToken: text("The `nextPageToken` of the page before."),
  },
};

export const LIST_MODELS = contract("geminiListModels", TAG, "List models", {
  description: "The models and aliases that the key may use.",
  query: PAGE,
  answers: {
    200: jsonAnswer(
      "One page.",
      component(
        "GeminiModels",
        { models: list(MODEL), nextPageToken: text("Where there is another page.") },
        { optional: ["nextPageToken"] },
      ),
    ),
  },
  errors: ["invalid_request"],
});

export const READ_MODEL = contract("geminiReadModel", TAG, "Read a model", {
  path: { model: MODEL_NAME },
  answers: { 200: jsonAnswer("The model.", MODEL) },
  errors: ["invalid_request", "model_not_found", "permission_denied"],
});

export const READ_FILE = contract("geminiReadFile", TAG, "Read what is known of a file", {
  description: "A file of one of the account's tasks.",
  path: { file: FILE_NAME },
  answers: { 200: jsonAnswer("The file.", FILE) },
  errors: ["not_found"],
});

export const DOWNLOAD_FILE = contract("geminiDownloadFile", TAG, "Download a file", {
  path: { file: FILE_NAME },
  query: optional({ alt: text("`media`.") }),
  headers: RANGE_HEADERS,
  // The keys of the table are the types.
  answers: ownDownloads(Object.keys(MEDIA_TYPES) as MediaType[]),
  errors: ["invalid_request", "not_found", "service_unavailable"],
});

export const LIST_FILES = contract("geminiListFiles", TAG, "List uploaded files, newest first", {
  query: PAGE,
  answers: {
    200: jsonAnswer(
      "One page.",
      component(
        "GeminiFiles",
        { files: list(FILE), nextPageToken: text("Where there is another page.") },
        { optional: ["nextPageToken"] },
      ),
    ),
  },
  errors: ["invalid_request"],
});

export const DELETE_FILE = contract("geminiDeleteFile", TAG, "Delete an uploaded file", {
  description: "Files of tasks go with them.",
  path: { file: FILE_NAME },
  answers: { 200: jsonAnswer("It is gone.", closed({})) },
  errors: ["not_found"],
});

const UPLOAD_HEADERS = {
  "X-Goog-Upload-Command": text(
    "`start`; then `upload`, `upload, finalize`, `finalize`, `query` or `cancel`.",
  ),
};

export const BEGIN_UPLOAD = contract("geminiBeginUpload", TAG, "Begin an upload", {
  description:
    "The answer's `X-Goog-Upload-URL` takes the content without a key, whole or in parts, for ten minutes after each. What the file is, its content says.",
  headers: {
    ...UPLOAD_HEADERS,
    "X-Goog-Upload-Protocol": text("`resumable`.", { const: "resumable" }),
    "X-Goog-Upload-Header-Content-Length": text("How many bytes it will have."),
  },
  body: jsonBody({
    title: "CreateGeminiFile",
    type: "object",
    properties: { file: { type: "object", properties: { displayName: text("What to call it.") } } },
  }),
  answers: {
    200: jsonAnswer("It has begun.", closed({}), ["X-Goog-Upload-URL", "X-Goog-Upload-Status"]),
  },
  errors: ["disk_low"],
});

export const CONTINUE_UPLOAD = contract("geminiContinueUpload", TAG, "Go on with an upload", {
  description: "Takes the content, or a part of it. The answer to the last one has the file.",
  path: { upload: text("Names the upload, and is the permission.") },
  headers: { ...UPLOAD_HEADERS, "X-Goog-Upload-Offset": text("How many bytes came before.") },
  body: { "application/octet-stream": {} },
  answers: {
    200: jsonAnswer("How far it is.", closed({ file: FILE }, { optional: ["file"] }), [
      "X-Goog-Upload-Status",
      "X-Goog-Upload-Size-Received",
    ]),
  },
  errors: ["not_found", "service_unavailable", "disk_low"],
});

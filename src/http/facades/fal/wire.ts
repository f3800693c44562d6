import { contract, jsonAnswer, jsonBody } from "../../openapi/contract.ts";
import { ROUTING_HEADERS } from "../../routing.ts";
import { TASK_ID } from "../../tasks/wire.ts";
import {
  closed,
  component,
  integer,
  list,
  nullable,
  optional,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { FAL } from "./manners.ts";

const TAG = "fal";

const REQUEST_ID = { ...TASK_ID, description: "Id of the request, which is the id of its task." };
const MODEL = text(
  "Id or alias of a model, with or without `svc/` before it, or that API's own name of a model that has a route there: two to five segments. `queue/` before it joins the queue.",
);
const ONE = { model: text("Any model; the id of the request decides."), request_id: REQUEST_ID };
const NOT_FOUND = "A request that is unknown or another account's is not there.";

const FILE = {
  url: text("Address of the file; of a picture that was asked for with `sync_mode: true`, a data URI.", {
    format: "uri",
  }),
  content_type: text("Media type."),
  file_name: text("Its name here."),
  file_size: integer("Bytes."),
  width: integer("Pixels."),
  height: integer("Pixels."),
  duration: { type: "number", description: "Seconds; of videos alone." },
};
const file = closed(FILE, { optional: ["duration"] });

const OUTPUT = component(
  "FalOutput",
  {
    images: list(file, { description: "Of a model that makes images." }),
    video: nullable(file),
    videos: list(file, { description: "All of them, where there are several." }),
    has_nsfw_concepts: list(
      { type: "boolean" },
      { description: "Images that were refused are no results here." },
    ),
    seed: integer("The seed that was asked for."),
    prompt: text("As it was given."),
    timings: closed({
      inference: { type: "number", description: "Seconds from the first submission to the end." },
    }),
  },
  { optional: ["images", "video", "videos", "has_nsfw_concepts", "seed", "prompt", "timings"] },
);

const CANCELLED = jsonAnswer("It was cancelled.", FAL.schema);

const REFUSED = closed({
  status: text("", { enum: ["ALREADY_COMPLETED", "NOT_FOUND"] }),
  detail: text("The same in words."),
  message: text("The same."),
});

const ADDRESSES = {
  response_url: text("Where the result is."),
  status_url: text("Where the status is."),
  cancel_url: text("Where it is cancelled."),
};

const LOG = closed({
  message: text(""),
  timestamp: text("", { format: "date-time" }),
  level: text("", { enum: ["INFO", "ERROR"] }),
  source: text("", { const: "USER" }),
});

const STATUS = component(
  "FalStatus",
  {
    status: text("", { enum: ["IN_QUEUE", "IN_PROGRESS", "COMPLETED"] }),
    request_id: REQUEST_ID,
    ...ADDRESSES,
    queue_position: integer("How many tasks are ahead of it. With `IN_QUEUE` only."),
    logs: nullable(list(LOG, { description: "Null unless `logs` asks for it. Not with `IN_QUEUE`." })),
    metrics: closed({
      inference_time: nullable({
        type: "number",
        description: "Seconds from the first submission to the end.",
      }),
    }),
    error: text("Why there is no result."),
    error_type: text("The type of that error."),
  },
  { optional: ["queue_position", "logs", "metrics", "error", "error_type"] },
);

const INPUT: Schema = {
  title: "FalInput",
  type: "object",
  examples: [{ prompt: "A lighthouse at dusk", image_size: "square_hd", num_images: 1 }],
  description:
    "What is asked of the model, by the names that API has for it or by the model's own. A field that the model has nothing for is refused.",
  additionalProperties: true,
};

const HEADERS = {
  "X-Fal-Queue-Priority": text("Joins the queue. Either value is served alike.", { enum: ["normal", "low"] }),
  "X-Fal-Request-Timeout": text(
    "Seconds, more than 1, within which it must have started; else it is cancelled. In the queue, it is told as 504 `request_timeout` with its result.",
  ),
  "X-Fal-Object-Lifecycle-Preference": text(
    'JSON: `{"expiration_duration_seconds": n}` says how long the files of the result stay.',
  ),
};

const CREATED = ["X-Request-Cost", "X-Idempotent-Replay"] as const;

export const RUN_FAL_MODEL = contract("runFalModel", TAG, "Run a model, or have it run from the queue", {
  description:
    "Makes a task. A run is answered with what was made. A request to the queue is answered at once: by `queue/` at the beginning of the path, by `X-Fal-Queue-Priority`, or by `fal_webhook`. `/stream` at the end of the path has the result as an event.",
  path: { model: MODEL },
  query: optional({ fal_webhook: text("Where the end is told.", { format: "uri" }) }),
  headers: { ...HEADERS, ...ROUTING_HEADERS },
  body: jsonBody(INPUT),
  isIdempotent: true,
  answers: {
    200: {
      description: "What was made, or the request in the queue.",
      content: { ...jsonBody({ anyOf: [OUTPUT, STATUS] }), "text/event-stream": { type: "string" } },
      headers: CREATED,
    },
    400: jsonAnswer("A provider refused the request, or a header cannot be read.", FAL.schema),
    499: CANCELLED,
  },
  errors: [
    ...(["insufficient_quota", "permission_denied", "model_not_found", "rate_limit_exceeded"] as const),
    ...(["content_policy_violation", "moderation_unavailable", "disk_low", "sync_image_timeout"] as const),
    ...(["upstream_timeout", "internal_error", "service_unavailable", "loop_detected"] as const),
  ],
});

const LOGS = optional({ logs: text("`1`: with the log.") });

export const READ_FAL_STATUS = contract("readFalStatus", TAG, "Read the status of a request", {
  description: NOT_FOUND,
  path: ONE,
  query: LOGS,
  answers: { 200: jsonAnswer("It has ended.", STATUS), 202: jsonAnswer("It has not.", STATUS) },
  errors: ["task_not_found"],
});

export const STREAM_FAL_STATUS = contract("streamFalStatus", TAG, "Follow the status of a request", {
  description: `Server-sent events without names, each a status, up to the last one. ${NOT_FOUND}`,
  path: ONE,
  query: LOGS,
  answers: { 200: { description: "The events.", content: { "text/event-stream": { type: "string" } } } },
  errors: ["task_not_found"],
});

const RESULT = {
  description: `Of a request that failed, the error that a run of it would have had; 400 while it has not ended. ${NOT_FOUND}`,
  path: ONE,
  answers: {
    200: jsonAnswer("What was made.", OUTPUT),
    400: jsonAnswer("It has not ended, or a provider refused it.", FAL.schema),
    499: CANCELLED,
  },
  errors: [
    ...(["task_not_found", "invalid_request", "content_policy_violation"] as const),
    ...(["internal_error", "service_unavailable", "upstream_timeout", "loop_detected"] as const),
  ],
};
export const READ_FAL_RESULT = contract("readFalResult", TAG, "Read the result of a request", RESULT);
export const READ_FAL_RESPONSE = contract(
  "readFalResponse",
  TAG,
  "Read the result of a request, as some clients do",
  RESULT,
);

export const CANCEL_FAL_REQUEST = contract("cancelFalRequest", TAG, "Cancel a request", {
  description: NOT_FOUND,
  path: ONE,
  answers: {
    400: jsonAnswer("It has ended.", REFUSED),
    404: jsonAnswer("There is no such request.", REFUSED),
    202: jsonAnswer("It is asked to end.", closed({ status: text("", { const: "CANCELLATION_REQUESTED" }) })),
  },
  errors: ["task_not_found"],
});

export const READ_FAL_KEYS = contract("readFalKeys", TAG, "Read the keys that verify webhooks", {
  answers: {
    200: jsonAnswer(
      "A JSON Web Key Set.",
      closed({
        keys: list(
          closed({
            kty: text("", { const: "OKP" }),
            crv: text("", { const: "Ed25519" }),
            alg: text("", { const: "EdDSA" }),
            use: text("", { const: "sig" }),
            x: text("The key, base64url."),
          }),
        ),
      }),
    ),
  },
});

import type { JsonObject } from "../../../domain/json.ts";
import { contract, type EndpointContract, jsonAnswer, jsonBody } from "../../openapi/contract.ts";
import { ROUTING_HEADERS } from "../../routing.ts";
import {
  closed,
  component,
  flag,
  integer,
  list,
  nullable,
  openEnum,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { IMG2IMG, TXT2IMG } from "./fields.ts";

export const TAG = "Compatible image engine";

const number = (description: string, more?: JsonObject): Schema => ({ type: "number", description, ...more });
/** What that API answers, which may have more than is told here. */
const loose: Schema = { type: "object", additionalProperties: true };
export const nothing: Schema = { type: "null" };
const BASE64 = text("The file as base64, without a `data:` prefix.", { contentEncoding: "base64" });

const PICTURES = component("Automatic1111Pictures", {
  images: list(BASE64, {
    description:
      "PNG where the model makes it, with what it was made of in its text `parameters`. None for `send_images: false`, and where the call was interrupted.",
  }),
  parameters: { ...loose, description: "The request, without its pictures." },
  info: text(
    "JSON: `seed`, `all_seeds` (-1 where it is unknown), `infotexts` and the like; in `svc` the task, and the fields that were `ignored`.",
  ),
});

const DRAW_ERRORS = [
  ...(["insufficient_quota", "permission_denied", "model_not_found", "content_policy_violation"] as const),
  ...(["rate_limit_exceeded", "sync_image_timeout", "moderation_unavailable", "disk_low"] as const),
];
const DRAW_HEADERS = [
  "X-Request-Cost",
  "X-Idempotent-Replay",
  "X-Task-Id",
  "X-Svc-Adjusted",
  "Preference-Applied",
] as const;

const WAITS =
  "Answers when the pictures are there. Where they are not within the wait window, 504 `sync_image_timeout` names the task, which goes on; sending the same request again within ten minutes joins it. The model is `sd_model_checkpoint` of `override_settings`, else the one that the key has chosen.";

function drawing(id: string, summary: string, schema: Schema): EndpointContract {
  return contract(id, TAG, summary, {
    description: WAITS,
    body: jsonBody(schema),
    headers: {
      Prefer: text("`wait=N`: wait so many seconds at most.", { examples: ["wait=60"] }),
      ...ROUTING_HEADERS,
    },
    isIdempotent: true,
    answers: { 200: jsonAnswer("The pictures.", PICTURES, DRAW_HEADERS) },
    errors: DRAW_ERRORS,
  });
}

export const DRAW_FROM_PROMPT = drawing("automatic1111Txt2img", "Draw from a prompt", TXT2IMG);
export const DRAW_FROM_IMAGE = drawing(
  "automatic1111Img2img",
  "Draw a picture anew, or what a mask lets through",
  IMG2IMG,
);

const optionalText = { type: ["string", "null"] };
const optionalNumber = { type: ["number", "null"] };
const ENLARGING = {
  upscaler_1: text("Id of a model that makes pictures larger: `upscalers` lists them."),
  upscaler_2: optionalText,
  upscaling_resize: { ...optionalNumber, description: "The factor, for models that take one." },
  ...{ upscaling_resize_w: optionalNumber, upscaling_resize_h: optionalNumber, resize_mode: optionalNumber },
  ...{
    gfpgan_visibility: optionalNumber,
    codeformer_visibility: optionalNumber,
    extras_upscaler_2_visibility: optionalNumber,
  },
};

const open = (title: string, required: readonly string[], properties: JsonObject): Schema => ({
  title,
  type: "object",
  required,
  properties,
  additionalProperties: true,
});

export const EXTRA_SINGLE = open("Automatic1111AskedExtraSingle", ["image"], { image: BASE64, ...ENLARGING });
export const EXTRA_BATCH = open("Automatic1111AskedExtraBatch", ["imageList"], {
  imageList: list(open("Automatic1111File", ["data"], { data: BASE64, name: text("") }), {
    minItems: 1,
    maxItems: 32,
  }),
  ...ENLARGING,
});

function enlarging(id: string, summary: string, schema: Schema, made: Schema): EndpointContract {
  return contract(id, TAG, summary, {
    description: "Each picture is a task of its own.",
    body: jsonBody(schema),
    headers: ROUTING_HEADERS,
    isIdempotent: true,
    answers: { 200: jsonAnswer("The larger pictures.", made, DRAW_HEADERS) },
    errors: DRAW_ERRORS,
  });
}

const HTML_INFO = text("What made them, and what was ignored, as HTML.");
export const ENLARGE_ONE = enlarging(
  "automatic1111ExtraSingleImage",
  "Make a picture larger",
  EXTRA_SINGLE,
  component("Automatic1111Enlarged", { html_info: HTML_INFO, image: BASE64 }),
);
export const ENLARGE_SEVERAL = enlarging(
  "automatic1111ExtraBatchImages",
  "Make pictures larger",
  EXTRA_BATCH,
  component("Automatic1111EnlargedBatch", { html_info: HTML_INFO, images: list(BASE64) }),
);

export const PNG_INFO = open("Automatic1111AskedPngInfo", ["image"], { image: BASE64 });
export const READ_PNG_INFO = contract("automatic1111PngInfo", TAG, "Read what a picture was made of", {
  body: jsonBody(PNG_INFO),
  answers: {
    200: jsonAnswer(
      "What it says.",
      component("Automatic1111Texts", {
        info: text("The text `parameters` of a PNG; empty without one."),
        items: { ...loose, description: "All its texts." },
        parameters: { ...loose, description: "The parts of `info`." },
      }),
    ),
  },
});

/** Clients of that API may send parameters that this service does not know. */
export const PROGRESS_QUERY: Schema = {
  type: "object",
  properties: { skip_current_image: flag("Whether to leave out the early version.", { default: false }) },
};

const STATE = {
  type: "object",
  properties: {
    ...{ skipped: flag(""), interrupted: flag(""), stopping_generation: flag("") },
    ...{
      job: text("Empty where nothing runs."),
      job_count: integer(""),
      job_timestamp: text(""),
      job_no: integer(""),
    },
    ...{ sampling_step: integer("By the progress of the task."), sampling_steps: integer("") },
  },
  additionalProperties: false,
};

export const READ_PROGRESS = contract("automatic1111Progress", TAG, "Read how far the key's call is", {
  description: "Of several calls, the one that has run longest. Calls of other keys are not told of.",
  query: PROGRESS_QUERY,
  answers: {
    200: jsonAnswer(
      "How far it is.",
      component("Automatic1111Progress", {
        progress: number("From 0 to 1.", { minimum: 0, maximum: 1 }),
        eta_relative: number("Seconds that it will take, by what has been done.", { minimum: 0 }),
        state: STATE,
        current_image: nullable(text("An early version as base64, of models that show one at no charge.")),
        textinfo: nothing,
      }),
    ),
  },
  errors: ["invalid_request"],
});

export const TASK_QUESTION = open("Automatic1111AskedTaskQuestion", ["id_task"], {
  id_task: text("`force_task_id` of the call."),
  live_preview: { type: ["boolean", "null"] },
});

export const READ_OWN_PROGRESS = contract("automatic1111TaskProgress", TAG, "Read how far a named call is", {
  body: jsonBody(TASK_QUESTION),
  answers: {
    200: jsonAnswer(
      "How far it is. A call that is unknown is neither active nor queued nor completed.",
      component("Automatic1111TaskProgress", {
        ...{ active: flag(""), queued: flag(""), completed: flag("") },
        ...{ progress: nullable(number("From 0 to 1.")), eta: nullable(number("Seconds.")) },
        ...{ live_preview: nullable(text("A data URI.")), id_live_preview: integer(""), textinfo: nothing },
      }),
    ),
  },
});

export const INTERRUPT = contract("automatic1111Interrupt", TAG, "End the key's calls", {
  description:
    "Cancels the tasks of the calls that the key has running; they are answered without pictures, and cost nothing.",
  answers: { 200: jsonAnswer("They are ended, or will be.", closed({})) },
});
export const SKIP = contract("automatic1111Skip", TAG, "End the key's call that has run longest", {
  answers: { 200: jsonAnswer("It is ended, or will be.", nothing) },
});

export const OPTIONS = open("Automatic1111AskedOptions", [], {
  sd_model_checkpoint: {
    type: ["string", "null"],
    description: "Id or alias of an image model, for the later requests of this key.",
    examples: ["sandbox-image"],
  },
});
const SETTINGS = component("Automatic1111Settings", {
  sd_model_checkpoint: nullable(text("The model of requests that name none; null where there is none.")),
  ...{ sd_checkpoint_hash: text(""), sd_vae: text(""), CLIP_stop_at_last_layers: integer("") },
  ...{ samples_format: text(""), samples_save: flag(""), enable_pnginfo: flag("") },
  ...{
    return_grid: flag(""),
    grid_save: flag(""),
    show_progressbar: flag(""),
    live_previews_enable: flag(""),
  },
  ...{ face_restoration_model: nothing, upscaler_for_img2img: text(""), img2img_color_correction: flag("") },
});
export const READ_OPTIONS = contract("automatic1111Options", TAG, "Read the settings of the key", {
  answers: {
    200: jsonAnswer("The model, and settings that cannot be changed.", SETTINGS),
  },
});
export const WRITE_OPTIONS = contract(
  "automatic1111SetOptions",
  TAG,
  "Choose the model for the key's requests",
  {
    description: "Other settings are ignored. The choice holds until the key chooses again.",
    body: jsonBody(OPTIONS),
    answers: { 200: jsonAnswer("It holds from now on.", nothing) },
    errors: ["permission_denied", "model_not_found"],
  },
);

export const ANSWER_PING = contract("automatic1111Ping", TAG, "See whether the server answers", {
  answers: { 200: jsonAnswer("It does.", closed({})) },
});

export const READ_QUEUE = contract("automatic1111QueueStatus", TAG, "See whether the server is there", {
  answers: {
    200: jsonAnswer(
      "It is.",
      component("Automatic1111Queue", {
        msg: openEnum(["estimation"], "Always `estimation`."),
        ...{ queue_size: integer("Of the key's calls."), avg_event_process_time: nothing },
        ...{
          avg_event_concurrent_process_time: nothing,
          rank: nothing,
          rank_eta: nothing,
          queue_eta: integer(""),
        },
      }),
    ),
  },
});

import { RESPONSE_FORMATS } from "../../domain/access/key-policy.ts";
import { MAX_COMPAT_PROMPT, MAX_EDIT_IMAGES } from "../../domain/limits.ts";
import { MAX_PARTIAL_IMAGES } from "../../domain/task/preview.ts";
import { contract, type EndpointContract, jsonAnswer, jsonBody } from "../openapi/contract.ts";
import { ROUTING_HEADERS } from "../routing.ts";
import { RESULT_ISSUES } from "../tasks/wire.ts";
import { COMPATIBLE_ERROR } from "../wire/errors.ts";
import {
  closed,
  component,
  integer,
  list,
  nullable,
  type Properties,
  type Schema,
  text,
} from "../wire/schema.ts";

const COUNT = { minimum: 0 };

const USAGE = closed(
  {
    prompt_tokens: integer("", COUNT),
    completion_tokens: integer("", COUNT),
    total_tokens: integer("", COUNT),
    input_tokens: integer("The same as `prompt_tokens`.", COUNT),
    output_tokens: integer("The same as `completion_tokens`.", COUNT),
    input_tokens_details: closed({ text_tokens: integer("", COUNT), image_tokens: integer("", COUNT) }),
    output_tokens_details: closed({ text_tokens: integer("", COUNT), image_tokens: integer("", COUNT) }),
  },
  { title: "ImageUsage", description: "As the provider reports it, else zero." },
);

const BASE64 = text("The file as base64, without a `data:` prefix.", { contentEncoding: "base64" });
const URL = text("Where the file is.", { format: "uri" });

const MADE = {
  size: text("What was made, as its file shows it; the first image's."),
  quality: text("What was made, as far as the provider says it; `auto` where nothing is known."),
  background: text("The same: `opaque`, `transparent` or `auto`."),
  output_format: text("`png`, `jpeg`, `webp`, `gif` or `svg`, as the file shows it."),
};

/** The answer to a synchronous call (docs/api.md 5.3). */
const IMAGES = component(
  "Images",
  {
    created: integer("When the images were done. Unix seconds.", COUNT),
    data: list(
      {
        oneOf: [
          closed({ b64_json: BASE64 }, { title: "InlineImage" }),
          closed({ url: URL }, { title: "LinkedImage" }),
        ],
      },
      { minItems: 1, description: "One entry an image, in order." },
    ),
    ...MADE,
    result_issues: RESULT_ISSUES,
    usage: USAGE,
  },
  { optional: [...Object.keys(MADE), "result_issues"] },
);

const ADJUSTED = list(text(""), {
  minItems: 1,
  description: "What `X-Svc-Adjusted` says of an answer without a stream.",
});

/** Events of a streamed answer, with the operation's word for an image. */
function imageEvents(prefix: string): Properties {
  const facts = {
    created_at: integer("Unix seconds.", COUNT),
    ...MADE,
  };
  const image = { b64_json: BASE64, url: URL };
  const optional = [...Object.keys(image), "adjusted", "result_issues"];
  const partial = `${prefix}.partial_image`;
  const completed = `${prefix}.completed`;
  return {
    [partial]: closed({
      type: text("", { const: partial }),
      partial_image_index: integer("From 0.", COUNT),
      b64_json: BASE64,
      ...facts,
    }),
    [completed]: closed(
      {
        type: text("", { const: completed }),
        ...image,
        ...facts,
        adjusted: ADJUSTED,
        result_issues: RESULT_ISSUES,
        usage: USAGE,
      },
      { optional },
    ),
    error: COMPATIBLE_ERROR,
  };
}

const MODEL = text("Id or alias of an image model.", { minLength: 1 });
const PROMPT = text("What to make.", { minLength: 1, maxLength: MAX_COMPAT_PROMPT });
const OPTIONS = {
  n: nullable(integer("How many images.", { minimum: 1, maximum: 10, default: 1 })),
  size: nullable(
    text("`<width>x<height>` within what the model can do, or `auto`.", { examples: ["1024x1024"] }),
  ),
  quality: nullable(text("Within what the model can do; `auto` leaves it to the model.")),
  background: nullable(text("`auto` or `opaque`, where the model supports it.")),
  output_format: nullable(text("`png`, `jpeg` or `webp`; of models that make them, `gif` or `svg`.")),
  response_format: nullable(
    text(
      "How images come back: inline, or as URLs. A query parameter of this name, or the key's own default, counts where it is absent.",
      { enum: RESPONSE_FORMATS, default: "b64_json" },
    ),
  ),
  stream: nullable({ type: "boolean", default: false, description: "Answer with server-sent events." }),
  callback_url: nullable(
    text("Address that is told of the end of the task as well, whoever waits.", { format: "uri" }),
  ),
  partial_images: nullable(
    integer(
      "Early versions to show of each image, of models that have the parameter; some charge for them. A slow reader misses all but the latest. Without `stream` it means nothing.",
      { minimum: 0, maximum: MAX_PARTIAL_IMAGES, default: 0 },
    ),
  ),
};

const EXAMPLE = { model: "sandbox-image", prompt: "A lighthouse at dusk", size: "1024x1024" };

/** Bodies here are open: fields that clients send and this service does not know are ignored (docs/api.md 5.1). */
const open = (required: readonly string[], properties: Properties): Schema => ({
  type: "object",
  required,
  properties,
  additionalProperties: true,
});

const ADDRESS = text("A URL, a base64 data URI, or the id of an uploaded file.");

/** An image, as different clients write it. */
const SOURCE: Schema = {
  anyOf: [
    ADDRESS,
    open(["image_url"], { image_url: { anyOf: [ADDRESS, open(["url"], { url: ADDRESS })] } }),
    open(["file_id"], { file_id: text("The id of an uploaded file.") }),
    open(["url"], { url: ADDRESS }),
  ],
};

const GENERATION: Schema = {
  title: "GenerateImages",
  examples: [EXAMPLE],
  ...open(["model", "prompt"], {
    model: MODEL,
    prompt: PROMPT,
    image: { description: "What to edit, for models that take images: its address, or a list of addresses." },
    ...OPTIONS,
  }),
};

const JSON_EDIT: Schema = {
  title: "EditImages",
  examples: [{ ...EXAMPLE, images: [{ image_url: "https://example.com/image.png" }] }],
  ...open(["model", "prompt"], {
    model: MODEL,
    prompt: PROMPT,
    images: list(SOURCE, {
      minItems: 1,
      maxItems: MAX_EDIT_IMAGES,
      description: "This or `image` is required.",
    }),
    image: {
      anyOf: [SOURCE, list(SOURCE, { minItems: 1, maxItems: MAX_EDIT_IMAGES })],
      description: "One image, or several, where `images` is not given.",
    },
    mask: { ...SOURCE, description: "Transparent where the prompt applies, for models that take masks." },
    ...OPTIONS,
  }),
};

const FILE: Schema = { type: "string", contentMediaType: "application/octet-stream" };

const FORM_EDIT: Schema = {
  title: "EditImagesForm",
  ...open(["image", "prompt", "model"], {
    image: list(FILE, {
      minItems: 1,
      maxItems: MAX_EDIT_IMAGES,
      description:
        "PNG, JPEG or WebP, at most 10 MB each. The field may be repeated, or be called `image[]` or `image[0]`.",
    }),
    prompt: PROMPT,
    model: MODEL,
    mask: { ...FILE, description: "PNG, transparent where the prompt applies, for models that take masks." },
    ...OPTIONS,
  }),
};

const { n, size, response_format } = OPTIONS;
const FORM_VARIATION: Schema = {
  title: "VaryImagesForm",
  ...open(["image"], {
    image: { ...FILE, description: "PNG, JPEG or WebP, at most 10 MB." },
    model: {
      ...MODEL,
      description:
        "Id or alias of a model that takes an image. The cheapest of those unless given, the sandbox's last.",
    },
    ...{ n, size, response_format, user: text("Means nothing here.") },
  }),
};

const WAIT = [
  "Answers when the images are ready. When they are not within the wait window, 504 `sync_image_timeout` names the task, which",
  "goes on: read it with `GET /v1/images/status/{task_id}`. Sending the same request again within ten minutes joins that task.",
].join(" ");

export const GENERATE_IMAGES = contract(
  "generateImages",
  "Synchronous images",
  "Generate images and wait for them",
  synchronous(jsonBody(GENERATION), "image_generation"),
);

export const EDIT_IMAGES = contract(
  "editImages",
  "Synchronous images",
  "Edit images and wait for them",
  synchronous({ "multipart/form-data": FORM_EDIT, ...jsonBody(JSON_EDIT) }, "image_edit"),
);

export const VARY_IMAGES = contract(
  "varyImages",
  "Synchronous images",
  "Make other versions of an image and wait for them",
  synchronous({ "multipart/form-data": FORM_VARIATION }, "image_edit"),
);

function synchronous(body: Properties, eventPrefix: string) {
  const headers = [
    "X-Request-Cost",
    "X-Idempotent-Replay",
    "X-Task-Id",
    "X-Svc-Adjusted",
    "Preference-Applied",
  ] as const;
  return {
    description: WAIT,
    query: {
      type: "object",
      properties: {
        response_format: text("Stands in where a client cannot send the field.", { enum: RESPONSE_FORMATS }),
      },
    },
    headers: {
      Prefer: text("`wait=N`: wait so many seconds at most.", { examples: ["wait=60"] }),
      ...ROUTING_HEADERS,
    },
    body,
    isIdempotent: true,
    answers: { 200: { ...jsonAnswer("The images.", IMAGES, headers), events: imageEvents(eventPrefix) } },
    errors: [
      ...(["insufficient_quota", "model_not_found", "content_policy_violation"] as const),
      ...(["permission_denied", "rate_limit_exceeded", "sync_image_timeout"] as const),
      ...(["moderation_unavailable", "disk_low"] as const),
    ],
  };
}

/** The form in which clients of that API list models. */
const COMPATIBLE_MODEL = component("CompatibleModel", {
  id: text("Id or alias."),
  object: text("", { const: "model" }),
  created: integer("Not known here: 0.", COUNT),
  owned_by: text("The provider."),
});

export const LIST_COMPATIBLE_MODELS: EndpointContract = {
  id: "listCompatibleModels",
  tag: "Synchronous images",
  summary: "List image models and their aliases",
  answers: {
    200: jsonAnswer(
      "The models.",
      closed({ object: text("", { const: "list" }), data: list(COMPATIBLE_MODEL) }),
    ),
  },
};

export const READ_COMPATIBLE_MODEL: EndpointContract = {
  id: "readCompatibleModel",
  tag: "Synchronous images",
  summary: "Read an image model or an alias",
  path: { model: text("Id or alias.") },
  answers: { 200: jsonAnswer("The model.", COMPATIBLE_MODEL) },
  errors: ["permission_denied", "model_not_found"],
};

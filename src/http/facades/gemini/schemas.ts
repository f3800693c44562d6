import {
  closed,
  component,
  flag,
  integer,
  list,
  openEnum,
  type Properties,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { DETAILS } from "./manners.ts";

/* The bodies of that API, as far as they are read here. All are open: what a model has no field for is refused when it is read. */

export const open = (
  properties: Properties,
  more: { required?: readonly string[]; description?: string } = {},
): Schema => ({
  type: "object",
  properties,
  additionalProperties: true,
  ...more,
});

const INLINE = open({ mimeType: text("Its media type."), data: text("Its content in base64.") });
const FILE_DATA = open({
  mimeType: text("Its media type."),
  fileUri: text("A URL, or the `uri` of a file of this account."),
});
const PART = open({ text: text("What to draw."), inlineData: INLINE, fileData: FILE_DATA });
const CONTENT = open({
  role: text("`user` or `model`."),
  parts: list(PART, { description: "Texts and pictures." }),
});

export const GENERATE_CONTENT_BODY: Schema = {
  title: "GenerateGeminiContent",
  examples: [{ contents: [{ parts: [{ text: "A lighthouse at dusk" }] }] }],
  ...open(
    {
      contents: list(CONTENT, {
        description:
          "The last turn of the user is the prompt. Its pictures are edited; where it has none, those of the latest turn before that has some.",
      }),
      systemInstruction: { ...CONTENT, description: "Its texts go before the prompt." },
      generationConfig: open({
        responseModalities: list({ type: "string" }, { description: "With `IMAGE`; texts are not made." }),
        candidateCount: integer("How many pictures.", { minimum: 1 }),
        seed: integer("Where the model has one."),
        imageConfig: open({
          aspectRatio: text("Width to height.", { examples: ["16:9"] }),
          imageSize: text("Side of a square of as many pixels.", { examples: ["2K"] }),
        }),
      }),
    },
    { required: ["contents"] },
  ),
};

const MEDIA = open(
  {
    bytesBase64Encoded: text("Its content in base64."),
    mimeType: text("Its media type."),
    gcsUri: text("In place of the content: a URL, or the `uri` of a file of this account."),
  },
  { description: "Also as `inlineData` or `fileData`." },
);

const REFERENCES = list(
  open({ referenceImage: MEDIA, image: MEDIA, referenceType: text("What it is for.") }),
  {
    description: "Pictures to edit or to show. One whose type ends in `MASK` says where to change the first.",
  },
);

export const PREDICT_BODY: Schema = {
  title: "GenerateGeminiPictures",
  examples: [{ instances: [{ prompt: "A lighthouse at dusk" }], parameters: { sampleCount: 1 } }],
  ...open(
    {
      instances: list(open({ prompt: text("What to draw."), image: MEDIA, referenceImages: REFERENCES }), {
        description: "One.",
      }),
      parameters: open({
        sampleCount: integer("How many pictures.", { minimum: 1 }),
        aspectRatio: text("Width to height."),
        sampleImageSize: text("Side of a square of as many pixels."),
      }),
    },
    { required: ["instances"] },
  ),
};

export const PREDICT_LONG_RUNNING_BODY: Schema = {
  title: "CreateGeminiVideo",
  examples: [
    {
      instances: [{ prompt: "A lighthouse at dusk" }],
      parameters: { aspectRatio: "16:9", durationSeconds: 4 },
    },
  ],
  ...open(
    {
      instances: list(
        open({
          prompt: text("What to show."),
          image: { ...MEDIA, description: "The picture that it begins with." },
          lastFrame: { ...MEDIA, description: "The picture that it ends with." },
          video: { ...MEDIA, description: "The video to change. Also with `uri`, or `encodedVideo`." },
          referenceImages: REFERENCES,
        }),
        { description: "One." },
      ),
      parameters: open({
        sampleCount: integer("How many videos.", { minimum: 1 }),
        aspectRatio: text("Width to height."),
        resolution: text("Pixels of the shorter side.", { examples: ["720p"] }),
        durationSeconds: integer("Length in seconds."),
        negativePrompt: text("What not to show."),
        seed: integer("Where the model has one."),
      }),
    },
    { required: ["instances"] },
  ),
};

export const FETCH_BODY = component("GeminiFetchPredictOperation", {
  operationName: text("The `name` of an operation."),
});

const USAGE = closed({
  promptTokenCount: integer("Zero where the provider reports none."),
  candidatesTokenCount: integer("The same."),
  totalTokenCount: integer("Their sum."),
});

const MADE_PART = closed({
  inlineData: closed({ mimeType: text("Its media type."), data: text("Its content in base64.") }),
});

export const GENERATED = component(
  "GeminiGenerateContentResponse",
  {
    candidates: list(
      closed(
        {
          content: closed({ parts: list(MADE_PART), role: text("", { const: "model" }) }),
          finishReason: openEnum(["STOP", "IMAGE_SAFETY", "IMAGE_OTHER"], "Why there is a picture, or none."),
          finishMessage: text("The same, for people."),
          index: integer("Its place."),
        },
        { optional: ["content", "finishMessage"] },
      ),
      { description: "One for each picture." },
    ),
    promptFeedback: closed(
      { blockReason: openEnum(["PROHIBITED_CONTENT"], "Why the prompt is refused.") },
      { description: "Only where there are no candidates." },
    ),
    usageMetadata: USAGE,
    modelVersion: text("Id of the model."),
    responseId: text("Id of the task."),
  },
  { optional: ["candidates", "promptFeedback", "responseId"] },
);

const PREDICTION = closed(
  {
    mimeType: text("Its media type."),
    bytesBase64Encoded: text("Its content in base64."),
    raiFilteredReason: text("Why there is none."),
  },
  { optional: ["mimeType", "bytesBase64Encoded", "raiFilteredReason"] },
);
export const PREDICTIONS = component("GeminiPredictResponse", {
  predictions: list(PREDICTION, { description: "One for each picture." }),
});

export const OPERATION_NAME = component("GeminiOperationName", {
  name: text("`models/<model>/operations/<task>`: poll it below the base URL."),
});

const FILTERED = {
  raiMediaFilteredCount: integer("How many were withheld."),
  raiMediaFilteredReasons: list({ type: "string" }, { description: "Why." }),
};

const METADATA = closed(
  {
    "@type": text("What it tells."),
    state: openEnum(["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"], "The status of the task."),
    progressPercent: integer("", { minimum: 0, maximum: 100 }),
    createTime: text("When the task was accepted."),
    endTime: text("When it ended."),
  },
  { optional: ["endTime"] },
);

const FAILURE = closed(
  {
    code: integer(
      "Of `google.rpc.Code`: 1 cancelled, 3 invalid, 4 too late, 8 no capacity, 13 failed, 14 unavailable.",
    ),
    message: text("For people, safe to show."),
    details: DETAILS,
  },
  { optional: ["details"] },
);

const operation = (title: string, response: Schema) =>
  component(
    title,
    {
      name: text("Its name."),
      metadata: METADATA,
      done: flag("Once the task has ended; absent before.", { const: true }),
      error: FAILURE,
      response,
    },
    { optional: ["done", "error", "response"] },
  );

const SAMPLE = closed({
  video: closed({ uri: text("Read it with the key."), encoding: text("Its media type.") }),
});
const ADDRESSED_PART = closed({
  fileData: closed({ mimeType: text("Its media type."), fileUri: text("Read it with the key.") }),
});

export const OPERATION = operation(
  "GeminiOperation",
  closed(
    {
      "@type": text("What it tells."),
      generateVideoResponse: closed(
        { generatedSamples: list(SAMPLE), ...FILTERED },
        { optional: ["generatedSamples", ...Object.keys(FILTERED)] },
      ),
      candidates: list(
        closed({
          content: closed({ role: text("", { const: "model" }), parts: list(ADDRESSED_PART) }),
          finishReason: text("", { const: "STOP" }),
          index: integer("Its place."),
        }),
        { description: "Of a task that made pictures." },
      ),
    },
    { optional: ["generateVideoResponse", "candidates"] },
  ),
);

export const FETCHED_OPERATION = operation(
  "GeminiFetchedOperation",
  closed(
    { videos: list(closed({ mimeType: text(""), bytesBase64Encoded: text("") })), ...FILTERED },
    { optional: Object.keys(FILTERED) },
  ),
);

export const MODEL = component("GeminiModel", {
  name: text("`models/<model>`."),
  baseModelId: text("Id of the model."),
  version: text("Of its price."),
  displayName: text("Its name for people."),
  description: text("What it makes."),
  supportedGenerationMethods: list({ type: "string" }, { description: "What it can be asked for here." }),
});

export const FILE = component(
  "GeminiFile",
  {
    name: text("`files/<file>`."),
    displayName: text("What the upload called it."),
    expirationTime: text("When it goes; of uploaded files."),
    mimeType: text("Its media type."),
    sizeBytes: text("Its size in bytes."),
    createTime: text("When it was stored."),
    updateTime: text("The same."),
    sha256Hash: text("Of its content, in base64."),
    uri: text("What to give as `fileUri`."),
    downloadUri: text("Where its content is, for the key."),
    state: text("", { const: "ACTIVE" }),
    source: text("Who made it.", { enum: ["UPLOADED", "GENERATED"] }),
    videoMetadata: closed({ videoDuration: text("Its length: `4s`.") }),
  },
  { optional: ["displayName", "expirationTime", "videoMetadata"] },
);

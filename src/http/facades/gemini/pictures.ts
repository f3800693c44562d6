import { invalid, mustBe } from "../../../domain/errors.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import type { CompatRequest } from "../../../service/compat-request.ts";
import { fitFormat } from "../../../service/fit-format.ts";
import { imageField, isList } from "../../../service/model-fields.ts";
import { readContents } from "./contents.ts";
import { addEnlarging } from "./enlarging.ts";
import { type InlineMask, type MaskDeps, readMask } from "./masks.ts";
import { type GivenMedia, type MediaContext, type MediaDeps, readMedia } from "./media.ts";
import { asObject, listOf, type Member, memberOf, objectOf, textOf } from "./members.ts";
import {
  addCount,
  addLabels,
  addOwn,
  addPictureSize,
  labelOf,
  put,
  type Wanted,
  wanted,
} from "./parameters.ts";

/** What to make, and the caller's names of its fields. */
export interface PictureRequest {
  readonly request: CompatRequest;
  readonly names: Readonly<Record<string, string>>;
  /** The proportions that it asks for, if any: `16:9`. */
  readonly ratio?: string | undefined;
  /** What it asks for and the model cannot choose, though it does the rest. */
  readonly unmet?: string | undefined;
  /** Absent for one that is given by its address. */
  readonly mask?: InlineMask | undefined;
}

/** Settings of a chat, which change nothing about a picture. */
const OF_CHATS = new Set([
  ...[
    "temperature",
    "topP",
    "topK",
    "maxOutputTokens",
    "stopSequences",
    "presencePenalty",
    "frequencyPenalty",
  ],
  ...["responseLogprobs", "logprobs", "thinkingConfig", "mediaResolution", "enableEnhancedCivicAnswers"],
  ...["responseMimeType", "responseModalities", "candidateCount", "imageConfig"],
]);
/** Of an image's settings. */
const OF_IMAGES = new Set(["aspectRatio", "imageSize", "outputMimeType", "imageOutputOptions"]);
/** What a body may have beside what it asks for. */
const OF_BODIES = new Set([
  ...[
    "contents",
    "systemInstruction",
    "generationConfig",
    "safetySettings",
    "labels",
    "model",
    "serviceTier",
  ],
  ...["toolConfig", "store"],
]);
const NONE: ReadonlySet<string> = new Set();

/** Reads a body of `generateContent`. @throws AppError naming the field at fault */
export async function readGenerateContent(
  deps: MediaDeps,
  context: MediaContext,
  { model, body }: { readonly model: Model; readonly body: JsonObject },
): Promise<PictureRequest> {
  const { prompt, pictures } = await readContents(deps, context, body);
  const to = wanted();
  const { value: config, path: at } = objectOf(body, "generationConfig") ?? {
    ...{ value: {}, path: "generationConfig" },
  };
  requireImages(listOf(config, "responseModalities", at));
  const image = objectOf(config, "imageConfig", at) ?? { value: {}, path: `${at}.imageConfig` };
  const ratio = memberOf(image.value, "aspectRatio", image.path);
  addPictureSize(model, to, { ratio, size: memberOf(image.value, "imageSize", image.path) });
  addFormat(model, to, formatOf(image.value, image.path, "imageOutputOptions"));
  addCount(model, to, memberOf(config, "candidateCount", at));
  addOwn(model, to, config, { at, known: NONE, ignored: OF_CHATS });
  addOwn(model, to, image.value, { at: image.path, known: OF_IMAGES, ignored: NONE });
  const { tools, ...rest } = body;
  const given = Array.isArray(tools) && tools.length === 0 ? rest : body;
  addOwn(model, to, given, { at: "", known: OF_BODIES, ignored: NONE });
  addLabels(model, to, body);
  return requestOf(model, to, { prompt, promptPath: "contents", pictures, ratio });
}

function requireImages(modalities: readonly Member[]): void {
  const [first] = modalities;
  if (first === undefined || modalities.some(({ value }) => value === "IMAGE")) return;
  const field = first.path.replace(/\[0\]$/, "");
  throw mustBe(field, { rule: "have IMAGE" }, { json: modalities.map(({ value }) => value) });
}

const TRANSLATED = new Set([
  ...["sampleCount", "numberOfImages", "aspectRatio", "sampleImageSize", "imageSize"],
  ...["outputOptions", "outputMimeType", "mode", "upscaleConfig"],
]);
/** What pictures are checked for, and what is told of that, is the service's and its providers' affair. */
const OF_CHECKS = new Set([
  ...[
    "personGeneration",
    "safetySetting",
    "safetyFilterLevel",
    "includeSafetyAttributes",
    "includeRaiReason",
  ],
  ...["language", "addWatermark", "enhancePrompt", "editMode", "baseSteps"],
]);

export type PredictDeps = MediaDeps & MaskDeps;

/** Reads a body of `predict`. @throws AppError naming the field at fault */
export async function readPredict(
  deps: PredictDeps,
  context: MediaContext,
  { model, body }: { readonly model: Model; readonly body: JsonObject },
): Promise<PictureRequest> {
  const { instance, parameters } = readInstance(body);
  const at = instance.path;
  const to = wanted();
  const first = (...names: readonly string[]) =>
    names.map((name) => memberOf(parameters, name, PARAMETERS)).find((each) => each !== undefined);
  const ratio = first("aspectRatio");
  addPictureSize(model, to, { ratio, size: first("sampleImageSize", "imageSize") });
  addFormat(model, to, formatOf(parameters, PARAMETERS, "outputOptions"));
  addCount(model, to, first("sampleCount", "numberOfImages"));
  addOwn(model, to, parameters, { at: PARAMETERS, known: TRANSLATED, ignored: OF_CHECKS });
  addOwn(model, to, instance.value, { at, known: OF_INSTANCES, ignored: NONE });
  addOwn(model, to, body, { at: "", known: OF_PREDICTIONS, ignored: NONE });
  addLabels(model, to, body);
  const enlarging = addEnlarging(model, to, parameters, PARAMETERS);
  const { pictures, mask } = await readReferences(deps, context, instance);
  const prompt = textOf(instance.value, "prompt", at)?.value ?? enlarging?.prompt;
  const request = requestOf(model, to, { prompt, promptPath: `${at}.prompt`, pictures, mask, ratio });
  return { ...request, unmet: enlarging?.unmet, mask: mask?.inline };
}

export const PARAMETERS = "parameters";
const OF_INSTANCES = new Set(["prompt", "image", "mask", "referenceImages"]);
/** What a body of `predict` or `predictLongRunning` may have beside what it asks for. */
export const OF_PREDICTIONS = new Set(["instances", PARAMETERS, "labels", "model"]);

/** The one instance of a prediction, and its parameters. @throws AppError naming what is wrong with them */
export function readInstance(body: JsonObject) {
  const [only, second] = listOf(body, "instances");
  if (only === undefined) throw invalid({ kind: "required", field: "instances" });
  const given = { json: body.instances ?? null };
  if (second !== undefined) throw mustBe("instances", { many: "entries", least: 1, most: 1 }, given);
  const { value: parameters = {} } = objectOf(body, PARAMETERS) ?? {};
  return { instance: asObject(only), parameters };
}

/** Pictures that are given with what they are for: one of them may be the mask. */
async function readReferences(
  deps: PredictDeps,
  context: MediaContext,
  { value: instance, path }: { readonly value: JsonObject; readonly path: string },
): Promise<{ pictures: GivenMedia[]; mask: ReturnType<typeof readMask> | undefined }> {
  const read = (member: Member | undefined) => member && readMedia(deps, context, member);
  const pictures = [await read(memberOf(instance, "image", path))];
  const within = objectOf(instance, "mask", path);
  let mask = await read(within && (memberOf(within.value, "image", within.path) ?? within));
  for (const entry of listOf(instance, "referenceImages", path)) {
    const { value, path: at } = asObject(entry);
    const picture = memberOf(value, "referenceImage", at) ?? memberOf(value, "image", at);
    if (picture === undefined) throw invalid({ kind: "required", field: `${at}.referenceImage` });
    const isMask = /MASK$/i.test(textOf(value, "referenceType", at)?.value ?? "");
    if (isMask && mask !== undefined) throw invalid({ kind: "given_twice", field: at });
    if (isMask) mask = await read(picture);
    else pictures.push(await read(picture));
  }
  return {
    pictures: pictures.filter((each) => each !== undefined),
    mask: mask && readMask(deps, context, mask),
  };
}

function formatOf(settings: JsonObject, at: string, options: string): Member | undefined {
  const inner = objectOf(settings, options, at);
  return memberOf(settings, "outputMimeType", at) ?? (inner && memberOf(inner.value, "mimeType", inner.path));
}

export function addFormat(model: Model, to: Wanted, format: Member | undefined): void {
  if (format === undefined) return;
  const value = labelOf(format).replace(/^image\//, "");
  if (fitFormat(model, value) === undefined)
    throw invalid({
      kind: "not_a_choice",
      field: format.path,
      model: model.id,
      given: { json: format.value },
    });
  put(to, "output_format", { value, path: format.path });
}

interface Given {
  readonly prompt: string | undefined;
  readonly promptPath: string;
  readonly pictures: readonly GivenMedia[];
  readonly mask?: GivenMedia | undefined;
  readonly ratio: Member | undefined;
}

/** The request as the service takes those of synchronous calls, whose names for fields then are those of `names`. */
export function requestOf(model: Model, { body, names }: Wanted, given: Given): PictureRequest {
  const { prompt, promptPath, pictures, mask, ratio } = given;
  const [first, second] = pictures;
  const field = imageField(model, pictures.length);
  if (first !== undefined && field === undefined)
    throw invalid({ kind: "media_unused", field: first.path, model: model.id });
  if (second !== undefined && field !== undefined && !isList(model, field)) {
    const most = {
      kind: "edits_one_image",
      field: second.path,
      model: model.id,
      given: pictures.length,
    } as const;
    throw invalid(most);
  }
  if (mask !== undefined && !model.mediaFields.some(({ role }) => role === "mask"))
    throw invalid({ kind: "media_unused", field: mask.path, model: model.id });
  const places = pictures.map(({ path }, i) => [`images[${i}]`, path] as const);
  const fields: Record<string, Json> = { ...body, model: model.id };
  if (prompt !== undefined) fields.prompt = prompt;
  const images = pictures.map(({ address }) => address);
  return {
    request: {
      ...{ isText: false, fields, images, imagesName: "images", mask: mask?.address },
      mayLackPrompt: images.length > 0,
    },
    names: {
      ...{ ...names, prompt: promptPath, images: first?.path ?? promptPath },
      ...Object.fromEntries(places),
      ...(mask !== undefined && { mask: mask.path }),
    },
    ratio: typeof ratio?.value === "string" ? ratio.value : undefined,
  };
}

import { invalid, mustBe } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { MAX_COMPAT_PROMPT } from "../domain/limits.ts";
import type { StillType } from "../domain/media/asset.ts";
import { closestRatio, closestResolution, closestSize, parseSize } from "../domain/media/size.ts";
import type { Model } from "../domain/model/model.ts";
import { fitFormat } from "./fit-format.ts";
import {
  choices,
  imageField,
  isList,
  misformed,
  type OfferedModel,
  propertyOf,
  readText,
  takenChoices,
} from "./model-fields.ts";

/** A request of the synchronous images API, whether it came as JSON or as a form. A field that was `null` is absent. */
export interface CompatRequest {
  /** Every other field of the body, by its name in that API. */
  readonly fields: JsonObject;
  /** Whether the fields are text, as in a form. Numbers and booleans are then read as the model's schema says. */
  readonly isText: boolean;
  /** Images to edit, as addresses, data URIs, or names of uploads. */
  readonly images: readonly string[];
  /** The name of the field with the images; `image` unless given. */
  readonly imagesName?: string | undefined;
  readonly mask?: string | undefined;
  /** Whether it may come without a prompt for a model that needs none, as one that removes the background. */
  readonly mayLackPrompt?: boolean | undefined;
}

/** A create body for the model's own schema, and the names that its fields have in the caller's request. */
export interface ModelBody {
  readonly body: JsonObject;
  /** The caller's name of a field, by the model's name. Other fields have the same name in both. */
  readonly names: Readonly<Record<string, string>>;
  /** See GenerationRequest.resultType. */
  readonly resultType?: StillType | undefined;
}

/** Fields that are translated one by one, that say how to answer, or that have no meaning here. */
const NOT_FOR_MODELS = new Set([
  ...["model", "prompt", "n", "size", "quality", "background", "output_format"],
  ...["response_format", "stream", "partial_images", "user", "safety_identifier"],
]);

/**
 * Translates a request of the synchronous images API into a model's create body. Fields that the model's schema has pass
 * unchanged, so that the schema decides about them. Unknown fields are ignored (docs/api.md 5.1). A size becomes the nearest
 * size that one of the routes takes.
 * @throws AppError `invalid_request` naming the field the model cannot honour
 */
export function fromCompat(offered: OfferedModel, request: CompatRequest): ModelBody {
  const { model } = offered;
  const given = request.isText ? readText(model, request.fields) : request.fields;
  const body: Record<string, Json> = { model: model.id };
  const names: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    // An address that is empty, as forms of programs send it, asks for nothing.
    if (name === "callback_url" && value === "") continue;
    if (!NOT_FOR_MODELS.has(name) && value !== undefined && propertyOf(model, name) !== undefined) {
      body[name] = value;
    }
  }
  // Only a stream can show previews. Without a stream the caller would pay for them and never see them.
  const { stream, partial_images: partialImages } = given;
  if (isTrue(stream) && partialImages !== undefined && propertyOf(model, "partial_images") !== undefined) {
    body.partial_images = partialImages;
  }
  if (!(request.mayLackPrompt && isWithoutPrompt(model, given.prompt))) {
    const prompt = promptOf(given.prompt);
    if (propertyOf(model, "prompt") !== undefined) body.prompt = prompt;
  }
  addCount(model, given.n, body);
  addSize(offered, given.size, body, names);
  addQuality(model, given.quality, body);
  addBackground(model, given.background, body);
  const resultType = addFormat(model, given.output_format, body);
  addImages(model, request, body, names);
  return { body, names, ...(resultType && { resultType }) };
}

/** Whether nothing is said to a model that need not be told anything. */
function isWithoutPrompt({ schema: { required } }: Model, prompt: Json | undefined): boolean {
  const isSilent = prompt === undefined || (typeof prompt === "string" && prompt.trim() === "");
  return isSilent && !(Array.isArray(required) && required.includes("prompt"));
}

function promptOf(prompt: Json | undefined): string {
  if (prompt === undefined) throw invalid({ kind: "required", field: "prompt" });
  if (typeof prompt !== "string") throw misformed("prompt", "text", prompt);
  // Counts code points, not UTF-16 units, as a person would.
  const length = [...prompt].length;
  if (length > 0 && prompt.trim() === "") throw mustBe("prompt", { form: "text_to_read" });
  if (length >= 1 && length <= MAX_COMPAT_PROMPT) return prompt;
  throw mustBe("prompt", { many: "characters", least: 1, most: MAX_COMPAT_PROMPT }, length);
}

function addCount(model: Model, n: Json | undefined, body: Record<string, Json>): void {
  if (n === undefined) return;
  if (propertyOf(model, "n") !== undefined) body.n = n;
  else if (n !== 1) {
    throw invalid({ kind: "one_image_at_a_time", field: "n", model: model.id, given: { json: n } });
  }
}

/**
 * Puts a size into a create body of an image model: as the model's own size, or as the nearest proportions and resolution that
 * a route takes. A model with none of these decides by itself. Records `size` as the caller's name of each field that it adds.
 * @throws AppError naming `size`
 */
export function addSize(
  offered: OfferedModel,
  size: Json | undefined,
  body: Record<string, Json>,
  names: Record<string, string>,
): void {
  if (size === undefined || size === "auto") return;
  if (propertyOf(offered.model, "size") !== undefined) {
    body.size = typeof size === "string" ? sizeFor(offered, size) : size;
    return;
  }
  const wanted = typeof size === "string" ? parseSize(size) : undefined;
  if (wanted === undefined) throw misformed("size", "size", size);
  const ratio = closestRatio(wanted, takenChoices(offered, "aspect_ratio"));
  if (ratio !== undefined && body.aspect_ratio === undefined) {
    body.aspect_ratio = ratio;
    names.aspect_ratio = "size";
  }
  const resolution = closestResolution(wanted, takenChoices(offered, "resolution"));
  if (resolution === undefined || body.resolution !== undefined) return;
  body.resolution = resolution;
  names.resolution = "size";
}

/**
 * The requested size if the model takes it, else the nearest size that the model lists. A free size is passed on, because the
 * model's schema checks its limits.
 */
function sizeFor(offered: OfferedModel, size: string): string {
  const listed = takenChoices(offered, "size");
  const wanted = parseSize(size);
  return wanted === undefined || listed.includes(size) ? size : (closestSize(wanted, listed) ?? size);
}

/** Qualities that clients request and that a model may lack, each with its replacements, best first. */
const QUALITY_STAND_INS: Readonly<Record<string, readonly string[]>> = {
  hd: ["high"],
  max: ["xhigh", "high", "hd"],
  xhigh: ["high", "hd"],
  high: ["hd"],
};

function addQuality(model: Model, quality: Json | undefined, body: Record<string, Json>): void {
  if (quality !== undefined && typeof quality !== "string") throw misformed("quality", "text", quality);
  // A model without a choice of qualities always delivers its best. The answer names the ignored fields.
  if (quality === undefined || quality === "auto" || propertyOf(model, "quality") === undefined) return;
  const known = choices(model, "quality");
  const standIns = Object.hasOwn(QUALITY_STAND_INS, quality) ? QUALITY_STAND_INS[quality] : [];
  const standIn = known.includes(quality) ? undefined : standIns?.find((each) => known.includes(each));
  if (standIn !== undefined || known.length === 0 || known.includes(quality))
    body.quality = standIn ?? quality;
}

function addBackground(model: Model, background: Json | undefined, body: Record<string, Json>): void {
  if (background === undefined || background === "auto") return;
  if (propertyOf(model, "background") !== undefined) body.background = background;
  else if (background !== "opaque") {
    const given = { json: background };
    throw invalid({ kind: "background_not_transparent", field: "background", model: model.id, given });
  }
}

/** @returns what results are stored as, where the model cannot be told */
function addFormat(
  model: Model,
  format: Json | undefined,
  body: Record<string, Json>,
): StillType | undefined {
  if (format === undefined) return undefined;
  const fitted = fitFormat(model, format);
  if (fitted === undefined) {
    const given = { json: format };
    throw invalid({ kind: "not_a_choice", field: "output_format", model: model.id, given });
  }
  if (fitted.kind === "stored") return fitted.type;
  body.output_format = fitted.value;
  return undefined;
}

function addImages(
  model: Model,
  { images, imagesName = "image", mask }: CompatRequest,
  body: Record<string, Json>,
  names: Record<string, string>,
): void {
  // The model's own fields pass unchanged under their names.
  if (images.length === 0 || Object.hasOwn(body, imagesName)) return;
  const field = imageField(model, images.length);
  if (field === undefined) throw invalid({ kind: "no_edits", field: "model", model: model.id });
  if (images.length > 1 && !isList(model, field)) {
    const given = images.length;
    throw invalid({ kind: "edits_one_image", field: imagesName, model: model.id, given });
  }
  names[field.name] = isList(model, field) ? imagesName : `${imagesName}[0]`;
  body[field.name] = isList(model, field) ? [...images] : (images[0] as string);
  // Other models apply the prompt to the whole image (docs/api.md 5.2).
  const maskField = model.mediaFields.find((field) => field.role === "mask");
  if (mask !== undefined && maskField !== undefined) {
    names[maskField.name] = "mask";
    body[maskField.name] = mask;
  }
  // A rule may name fields that the caller did not give. Callers of that API know only its own names for them.
  for (const { name, media, role } of model.mediaFields) {
    if (media === "image" && !Object.hasOwn(body, name)) names[name] = role === "mask" ? "mask" : imagesName;
  }
}

/** In a form, true is the text "true". */
function isTrue(value: Json | undefined): boolean {
  return value === true || value === "true";
}

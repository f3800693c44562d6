import { AppError, invalid, mustBe } from "../../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import { closestResolution } from "../../../domain/media/size.ts";
import { takesValue } from "../../../domain/model/eligibility.ts";
import type { Catalog } from "../../../domain/ports/catalog.ts";
import type { ModelBody } from "../../../service/compat-request.ts";
import { choices, type OfferedModel, propertyOf, takenChoices } from "../../../service/model-fields.ts";
import { fromForeign } from "../foreign-input.ts";
import { DECISIVE, FINE, MODEL_NAMES, NOT_FOR_MODELS } from "./asked-fields.ts";

/** A request in the model's own words, and what became of the caller's. */
export interface Translated extends ModelBody {
  /** What the model is asked for, by the caller's names. */
  readonly taken: JsonObject;
  /** Fields that had no effect. */
  readonly ignored: readonly string[];
  /** Fields whose values the model cannot do, and which got the nearest possible value. */
  readonly fitted: readonly string[];
}

/** A side of a picture where a request names only the other one. */
const USUAL_SIDE = 512;

/**
 * Translates a checked body.
 * @param pictures what stands for the picture to draw anew, and for the mask
 * @param newSeed for a request that leaves it to chance
 * @throws AppError `invalid_request` naming the field that no route of the model can do
 */
export function translate(
  catalog: Pick<Catalog, "routes" | "validate">,
  offered: OfferedModel,
  body: JsonObject,
  pictures: { readonly image?: string | undefined; readonly mask?: string | undefined },
  newSeed: (most: number) => number,
): Translated {
  const { model } = offered;
  refuseDecisive(offered, body, pictures);
  const own: Own = { fields: {}, names: {}, taken: {}, ignored: [], fitted: [] };
  // A model without the field is not told of it.
  if (propertyOf(model, "prompt") !== undefined) own.fields.prompt = body.prompt ?? "";
  for (const [name, value] of Object.entries(body)) {
    if (value !== undefined && !NOT_FOR_MODELS.has(name) && propertyOf(model, name) !== undefined)
      own.fields[name] = value;
  }
  addNamed(offered, settled(body), pictures, own);
  addSeed(offered, body, newSeed, own);
  addSize(offered, body, own);
  addLooks(offered, body, own);
  for (const name of FINE) {
    const value = body[name];
    const isOff =
      value === undefined || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
    if (!isOff && propertyOf(model, name) === undefined) own.ignored.push(name);
  }
  const { image, mask } = pictures;
  const files = { ...(image !== undefined && { init_images: [image] }), ...(mask !== undefined && { mask }) };
  const read = fromForeign(catalog, model, { fields: { ...own.fields, ...files }, at: "" });
  Object.assign(read.names, own.names);
  // A rule may name fields that were not given. Callers of that API only know its own names for them.
  for (const { name, media, role } of model.mediaFields) {
    if (media === "image" && !Object.hasOwn(read.body, name))
      read.names[name] = role === "mask" ? "mask" : "init_images";
  }
  return { ...read, taken: own.taken, ignored: own.ignored, fitted: own.fitted };
}

interface Own {
  readonly fields: Record<string, Json>;
  readonly names: Record<string, string>;
  readonly taken: Record<string, Json>;
  readonly ignored: string[];
  readonly fitted: string[];
}

function refuseDecisive(
  { model }: OfferedModel,
  body: JsonObject,
  pictures: { readonly mask?: string | undefined },
) {
  const refuse = (field: string) => invalid({ kind: "field_undoable", field, model: model.id });
  for (const [field, isAsked] of Object.entries(DECISIVE)) {
    const value = body[field];
    if (value !== undefined && isAsked(value) && propertyOf(model, field) === undefined) throw refuse(field);
  }
  const scripts = isJsonObject(body.alwayson_scripts) ? Object.keys(body.alwayson_scripts) : [];
  const [script] = scripts;
  if (script !== undefined && propertyOf(model, "alwayson_scripts") === undefined)
    throw refuse(`alwayson_scripts.${script}`);
  const takesMask = model.mediaFields.some(({ role }) => role === "mask");
  if (pictures.mask !== undefined && !takesMask) throw refuse("mask");
}

/** A body with the settings that it overrides, under the names of fields. */
function settled(body: JsonObject): JsonObject {
  const settings = isJsonObject(body.override_settings) ? body.override_settings : {};
  const { CLIP_stop_at_last_layers: skip } = settings;
  return {
    ...body,
    ...(body.clip_skip === undefined && typeof skip === "number" && { clip_skip: skip }),
    ...(body.sampler_name === undefined &&
      body.sampler_index !== undefined && { sampler_name: body.sampler_index }),
  };
}

function addNamed(
  offered: OfferedModel,
  body: JsonObject,
  { image }: { readonly image?: string | undefined },
  own: Own,
): void {
  const { model } = offered;
  for (const [name, modelNames] of Object.entries(MODEL_NAMES)) {
    const value = body[name];
    // Without a picture, it is of the second pass.
    if (value === undefined || value === "" || (name === "denoising_strength" && image === undefined))
      continue;
    const modelName = modelNames.find((each) => propertyOf(model, each) !== undefined);
    if (modelName === undefined || Object.hasOwn(own.fields, modelName)) {
      if (!(name === "clip_skip" && Number(value) <= 1)) own.ignored.push(name);
      continue;
    }
    const fitting = fit(offered, modelName, name, value);
    if (fitting === undefined) continue;
    own.fields[modelName] = fitting;
    own.names[modelName] = name;
    own.taken[name] = fitting;
    if (fitting !== value && typeof value === "number") own.fitted.push(name);
  }
}

/** What a model takes in place of a value; undefined for what leaves it to the model. @throws AppError for a text that is none of its choices */
function fit({ model }: OfferedModel, modelName: string, name: string, value: Json): Json | undefined {
  const property = propertyOf(model, modelName) ?? {};
  if (typeof value === "number") {
    const { minimum, maximum, type } = property;
    const least = typeof minimum === "number" ? minimum : value;
    const most = typeof maximum === "number" ? maximum : value;
    const within = Math.min(Math.max(value, least), most);
    return type === "integer" ? Math.round(within) : within;
  }
  const listed = choices(model, modelName);
  if (listed.length === 0 || typeof value !== "string") return value;
  const same = listed.find((each) => plain(each) === plain(value));
  if (same !== undefined || plain(value) === "automatic") return same;
  throw mustBe(name, { oneOf: listed }, value);
}

/** Samplers are written in many ways: `Euler a`, `euler_a`. */
function plain(name: string): string {
  return name
    .toLowerCase()
    .replaceAll("++", "pp")
    .replace(/[^a-z0-9]/g, "");
}

const MOST_SEED = 4_294_967_295;

function addSeed(
  offered: OfferedModel,
  { seed = -1 }: JsonObject,
  newSeed: (most: number) => number,
  own: Own,
): void {
  const property = propertyOf(offered.model, "seed");
  if (property === undefined) {
    if (seed !== -1) own.ignored.push("seed");
    return;
  }
  const { maximum } = property;
  const drawn = newSeed(typeof maximum === "number" ? Math.min(maximum, MOST_SEED) : MOST_SEED);
  // Left to chance, a way that takes no seed is as good as others.
  if (typeof seed === "number" && seed < 0 && !allTake(offered, "seed", drawn)) return;
  own.fields.seed = typeof seed === "number" && seed < 0 ? drawn : seed;
  own.taken.seed = own.fields.seed;
}

function addSize(offered: OfferedModel, { width, height }: JsonObject, own: Own): void {
  const { model } = offered;
  const size = [width ?? USUAL_SIDE, height ?? USUAL_SIDE];
  own.names.size = width === undefined ? "height" : "width";
  if (width === undefined && height === undefined) return;
  const isBySides = propertyOf(model, "width") !== undefined && propertyOf(model, "height") !== undefined;
  const isOpen = (name: string) => own.fields[name] === undefined;
  const hasRatio = isOpen("aspect_ratio") && takenChoices(offered, "aspect_ratio").length > 0;
  const wanted = { width: Number(size[0]), height: Number(size[1]) };
  const resolution = closestResolution(wanted, takenChoices(offered, "resolution"));
  const hasResolution = isOpen("resolution") && resolution !== undefined;
  // A model with none of these, or that is told them, decides by itself.
  if (isBySides || hasRatio || hasResolution || propertyOf(model, "size") !== undefined)
    [own.fields.width, own.fields.height] = size as [Json, Json];
}

/** How many pictures, in which format, and whether early versions of them are shown, where that costs nothing. */
function addLooks(offered: OfferedModel, body: JsonObject, own: Own): void {
  const { model } = offered;
  const { batch_size: size = 1, n_iter: times = 1 } = body;
  const count = Number(size) * Number(times);
  own.names.n = Number(size) === 1 ? "n_iter" : "batch_size";
  if (count !== 1) own.fields[own.names.n] = count;
  const settings = isJsonObject(body.override_settings) ? body.override_settings : {};
  const format = settings.samples_format === "jpg" ? "jpeg" : (settings.samples_format ?? "png");
  if (
    typeof format === "string" &&
    choices(model, "output_format").includes(format) &&
    allTake(offered, "output_format", format)
  )
    own.fields.output_format = format;
  const isPriced = model.price.lines.some(
    ({ when }) => when !== undefined && Object.hasOwn(when, "partial_images"),
  );
  if (!isPriced && propertyOf(model, "partial_images") !== undefined && allTake(offered, "partial_images", 1))
    own.fields.partial_images = 1;
}

function allTake({ routes }: OfferedModel, field: string, value: Json): boolean {
  return routes.every((route) => takesValue(route, field, value));
}

/** @throws AppError for a request to draw from a picture without one, or from several */
export function onlyImageOf({ init_images: images }: JsonObject): string {
  const [image] = Array.isArray(images) ? images : [];
  if (typeof image !== "string" || image === "")
    throw new AppError("invalid_request", { kind: "required", field: "init_images" });
  if (Array.isArray(images) && images.length > 1)
    throw mustBe("init_images", { many: "entries", most: 1 }, images.length);
  return image;
}

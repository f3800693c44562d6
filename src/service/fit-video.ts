import { type AppError, invalid, mustBe } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { parseSize, type Size } from "../domain/media/size.ts";
import {
  isSize,
  ratioOfSize,
  resolutionOfSize,
  shorterSideOf,
  videoSize,
} from "../domain/media/video-size.ts";
import type { Model } from "../domain/model/model.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { GenerationRequest } from "../domain/task/request.ts";
import { either } from "../domain/words/say.ts";
import type { ModelBody } from "./compat-request.ts";
import { misformed, propertyOf, takenChoices } from "./model-fields.ts";

/** The size and length of a video that a caller asks for, in words that suit every model. The model decides absent members. */
export interface VideoWish {
  /** `<width>x<height>` in pixels, or `auto`. */
  readonly size?: Json | undefined;
  /** Its length, as a number or as text. */
  readonly seconds?: Json | undefined;
}

/** The fields that models have for the length of a video. */
const LENGTHS = ["duration", "seconds"] as const;

/**
 * Adds the wanted size and length to a create body as the model's own parameters: proportions and resolution, or a size; and a
 * duration. Parameters that the body already has stay as they are. A size becomes the model's size with the same proportions
 * and about the same area. If images in the body decide the proportions, no proportions are added.
 *
 * @returns the body, and for each added parameter `size` or `seconds`
 * @throws AppError `invalid_request` naming `size` or `seconds` if the model cannot make such a video
 */
export function fitVideo(
  catalog: Pick<Catalog, "routes" | "validate">,
  model: Model,
  given: JsonObject,
  { size, seconds }: VideoWish,
): ModelBody {
  const body: Record<string, Json | undefined> = { ...given };
  const names: Record<string, string> = {};
  if (seconds !== undefined) addLength(model, seconds, body, names);
  if (size === undefined || size === "auto") return { body, names };
  if (propertyOf(model, "size") === undefined) addSize(catalog, model, size, body, names);
  else body.size ??= size;
  return { body: withoutRefused(catalog, model, body, names), names };
}

type Body = Record<string, Json | undefined>;
type Names = Record<string, string>;

function addLength(model: Model, seconds: Json, body: Body, names: Names): void {
  const count =
    typeof seconds === "string" && /^\d{1,5}(\.\d{1,3})?$/.test(seconds) ? Number(seconds) : seconds;
  if (typeof count !== "number") {
    throw mustBe("seconds", { rule: 'be a number of seconds, such as "8"' }, { json: seconds });
  }
  const field = LENGTHS.find((name) => propertyOf(model, name) !== undefined);
  if (field === undefined) throw unchoosable("seconds", model, seconds);
  if (body[field] !== undefined) return;
  body[field] = propertyOf(model, field)?.type === "string" ? String(count) : count;
  names[field] = "seconds";
}

function addSize(catalog: Pick<Catalog, "routes">, model: Model, size: Json, body: Body, names: Names): void {
  const wanted = typeof size === "string" ? parseSize(size) : undefined;
  if (wanted === undefined) throw misformed("size", "size", size);
  const offered = { model, routes: catalog.routes(model) };
  const ratios = takenChoices(offered, "aspect_ratio");
  // If a model has no choice of proportions, its images decide them.
  if (ratios.length === 0 && !hasImages(model, body)) throw unchoosable("size", model, size);
  if (ratios.length > 0 && body.aspect_ratio === undefined) {
    body.aspect_ratio = ratioFor(wanted, ratios, size);
    names.aspect_ratio = "size";
  }
  const labels = takenChoices(offered, "resolution");
  if (!labels.some((label) => shorterSideOf(label) !== undefined) || body.resolution !== undefined) return;
  body.resolution = resolutionFor(wanted, labels, size);
  names.resolution = "size";
}

function ratioFor(wanted: Size, ratios: readonly string[], given: Json): string {
  const ratio = ratioOfSize(wanted, ratios);
  if (ratio !== undefined) return ratio;
  throw mustBe("size", { rule: `have the proportions ${either(ratios)}` }, { json: given });
}

function resolutionFor(wanted: Size, labels: readonly string[], given: Json): string {
  const label = resolutionOfSize(wanted, labels);
  if (label !== undefined) return label;
  const sides = labels.flatMap((each) => shorterSideOf(each) ?? []).map(String);
  throw mustBe("size", { rule: `have a shorter side of about ${either(sides)} pixels` }, { json: given });
}

/** Some models take no proportions together with an image, because the image has its own. */
function withoutRefused(catalog: Pick<Catalog, "validate">, model: Model, body: Body, names: Names): Body {
  if (names.aspect_ratio === undefined || !hasImages(model, body)) return body;
  const { aspect_ratio: _, ...others } = body;
  const isRefused = !catalog.validate(model, body).ok && catalog.validate(model, others).ok;
  return isRefused ? others : body;
}

function hasImages({ mediaFields }: Model, body: Body): boolean {
  return mediaFields.some(({ name, media }) => media === "image" && body[name] !== undefined);
}

function unchoosable(field: string, { id: model }: Model, given: Json): AppError {
  return invalid({ kind: "not_a_choice", field, model, given: { json: given } });
}

/** What a request for a video says about its size and length. Members that it leaves to others are absent. */
export function wishOf({ parameters }: Pick<GenerationRequest, "parameters">): {
  readonly size?: string | undefined;
  readonly seconds?: number | undefined;
} {
  const { size, aspect_ratio: ratio, resolution } = parameters;
  const named = LENGTHS.find((name) => parameters[name] !== undefined);
  const seconds = named === undefined ? Number.NaN : Number(parameters[named] ?? Number.NaN);
  return {
    size: typeof size === "string" && isSize(size) ? size : sizeFrom(ratio, resolution),
    seconds: seconds > 0 ? seconds : undefined,
  };
}

function sizeFrom(ratio: Json | undefined, resolution: Json | undefined): string | undefined {
  return typeof ratio === "string" && typeof resolution === "string"
    ? videoSize(ratio, resolution)
    : undefined;
}

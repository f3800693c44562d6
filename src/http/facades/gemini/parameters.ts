import { invalid, mustBe } from "../../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import { parseSize } from "../../../domain/media/size.ts";
import { shorterSideOf, videoSize } from "../../../domain/media/video-size.ts";
import type { Model } from "../../../domain/model/model.ts";
import { choices, propertyOf } from "../../../service/model-fields.ts";
import { asksNothing } from "../foreign-words.ts";
import { parameterNamed } from "../parameter-names.ts";
import { camelOf, type Member, memberOf, snakeOf, textOf, within } from "./members.ts";

/** A request in the words of a model, and the paths where the caller has its fields. */
export interface Wanted {
  readonly body: Record<string, Json>;
  readonly names: Record<string, string>;
}

export const wanted = (): Wanted => ({ body: {}, names: {} });

/** Puts a value into a body, and notes where it came from. */
export function put({ body, names }: Wanted, field: string, { value, path }: Member): void {
  if (body[field] !== undefined) throw invalid({ kind: "given_twice", field: path });
  body[field] = value;
  names[field] = path;
}

/** Refuses parameters for which the model has no field. */
export function unchoosable({ id: model }: Model, { value, path }: Member) {
  return invalid({ kind: "not_a_choice", field: path, model, given: { json: value } });
}

/** Where the paths of parameters begin, and which of them are not the model's. */
export interface OwnOptions {
  readonly at: string;
  /** Those that are translated one by one, in camelCase. */
  readonly known: ReadonlySet<string>;
  /** Those that change nothing about a picture or a film here. */
  readonly ignored: ReadonlySet<string>;
}

/** What is translated for every model, whatever it calls it. */
const NEVER = new Set(["model", "prompt"]);

/**
 * Gives parameters to the model's fields of the same names, in snake_case: `negativePrompt` is `negative_prompt`. What the model does
 * anyway goes along; its check decides about it.
 * @throws AppError naming a parameter that the model has no field for, unless it is empty
 */
export function addOwn(
  model: Model,
  to: Wanted,
  given: JsonObject,
  { at, known, ignored }: OwnOptions,
): void {
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (value === null || value === undefined) continue;
    const camel = camelOf(name);
    if (known.has(camel) || ignored.has(camel)) continue;
    const member = { value, path: within(at, name) };
    const field = propertyOf(model, name) === undefined ? snakeOf(name) : name;
    const own = NEVER.has(field) ? undefined : ownName(model, field, value);
    if (own === undefined && asksNothing(value)) continue;
    if (own === undefined) throw unchoosable(model, member);
    put(to, own, member);
  }
}

const ownName = (model: Model, field: string, value: Json): string | undefined =>
  propertyOf(model, field) === undefined ? parameterNamed(model, field, value) : field;

/** How many, which a model that makes one at a time takes as 1 alone. */
export function addCount(model: Model, to: Wanted, member: Member | undefined): void {
  if (member === undefined) return;
  if (propertyOf(model, "n") !== undefined) {
    put(to, "n", member);
    return;
  }
  if (member.value === 1) return;
  const given = { json: member.value };
  throw invalid({ kind: "must", field: member.path, must: { equal: 1 }, given });
}

/** `sandbox` in a text, where a client passes nothing but texts. @throws AppError where it is not JSON */
export function addLabels(model: Model, to: Wanted, body: JsonObject): void {
  const labels = memberOf(body, "labels");
  if (!isJsonObject(labels?.value)) return;
  const sandbox = textOf(labels.value, "sandbox", labels.path);
  if (sandbox === undefined || propertyOf(model, "sandbox") === undefined) return;
  try {
    put(to, "sandbox", { value: JSON.parse(sandbox.value) as Json, path: sandbox.path });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw mustBe(sandbox.path, { form: "json" }, { json: sandbox.value });
  }
}

/** A choice by its name, as text. An object is none, and cannot always be made one. */
export const labelOf = ({ value }: Member): string => (typeof value === "object" ? "" : String(value));

/** Sides of a square of as many pixels, by that API's names. */
const SIDES: ReadonlyMap<string, number> = new Map([
  ["512", 512],
  ["0.5k", 512],
  ["1k", 1024],
  ["2k", 2048],
  ["4k", 4096],
]);
const DEFAULT_SIDE = 1024;
/** Encoders and models take sides that are multiples of it. */
const STEP = 16;

/**
 * Proportions and size of pictures, as the model's own parameters, or as a size, which the service then fits as for other clients.
 * @throws AppError naming what the model cannot choose
 */
export function addPictureSize(
  model: Model,
  to: Wanted,
  { ratio, size }: { readonly ratio: Member | undefined; readonly size: Member | undefined },
): void {
  const has = (name: string) => propertyOf(model, name) !== undefined;
  if (ratio !== undefined && has("aspect_ratio")) put(to, "aspect_ratio", ratio);
  if (size !== undefined && has("resolution")) put(to, "resolution", labelled(model, size));
  const left = [!has("aspect_ratio") && ratio, !has("resolution") && size].find(
    (each) => typeof each === "object",
  );
  if (left === undefined) return;
  const fitted = has("size") ? pictureSize(ratio, size) : undefined;
  if (fitted === undefined || to.body.aspect_ratio !== undefined || to.body.resolution !== undefined)
    throw unchoosable(model, left);
  put(to, "size", { value: fitted, path: left.path });
}

function pictureSize(ratio: Member | undefined, size: Member | undefined): string | undefined {
  const side = size === undefined ? DEFAULT_SIDE : SIDES.get(labelOf(size).toLowerCase());
  const [, across, down] = /^(\d{1,3}):(\d{1,3})$/.exec(ratio === undefined ? "1:1" : labelOf(ratio)) ?? [];
  const proportion = Number(across) / Number(down);
  if (side === undefined || !(proportion > 0) || proportion === Number.POSITIVE_INFINITY) return undefined;
  const rounded = (length: number) => Math.max(STEP, STEP * Math.round(length / STEP));
  return `${rounded(side * Math.sqrt(proportion))}x${rounded(side / Math.sqrt(proportion))}`;
}

/** A label as the model writes it: that API has 4k where others have 4K. */
function labelled(model: Model, member: Member): Member {
  const value = choices(model, "resolution").find(
    (choice) => choice.toLowerCase() === labelOf(member).toLowerCase(),
  );
  return value === undefined ? member : { ...member, value };
}

/** The same of videos. @returns the size that the service is to fit; undefined where the model has parameters for it */
export function addFilmSize(
  model: Model,
  to: Wanted,
  { ratio, resolution }: { readonly ratio: Member | undefined; readonly resolution: Member | undefined },
): Member | undefined {
  const has = (name: string) => propertyOf(model, name) !== undefined;
  const asPixels = resolution !== undefined && parseSize(labelOf(resolution)) !== undefined;
  if (asPixels && ratio === undefined) return resolution;
  if (ratio !== undefined && has("aspect_ratio")) put(to, "aspect_ratio", ratio);
  if (resolution !== undefined && has("resolution")) put(to, "resolution", labelled(model, resolution));
  const left = [!has("aspect_ratio") && ratio, !has("resolution") && resolution].find(
    (each) => typeof each === "object",
  );
  if (left === undefined) return undefined;
  const label = resolution === undefined ? "720p" : labelOf(resolution);
  const value = has("size") ? videoSize(ratio === undefined ? "16:9" : labelOf(ratio), label) : undefined;
  if (value === undefined || shorterSideOf(label) === undefined) throw unchoosable(model, left);
  return { value, path: left.path };
}

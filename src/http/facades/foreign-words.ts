import { canonicalJson } from "../../domain/canonical-json.ts";
import { type Json, readScalar } from "../../domain/json.ts";
import type { MediaKind } from "../../domain/media/asset.ts";
import type { Model, Route } from "../../domain/model/model.ts";
import type { ParameterWording } from "../../domain/model/wording.ts";
import type { InputRole } from "../../domain/task/request.ts";
import { propertyOf } from "../../service/model-fields.ts";

/** What a field of another API means for a model of ours. */
export type Meaning =
  /** A field of the model's own; `read` gives its value. */
  | { readonly kind: "parameter"; readonly name: string; readonly read: (value: Json) => Json }
  /** Files for the first of these roles that the model has. */
  | { readonly kind: "media"; readonly media: MediaKind; readonly roles: readonly InputRole[] }
  | { readonly kind: "count" | "length" | "size" | "side" | "ratio" | "format" }
  /** Every request has this value there. */
  | { readonly kind: "constant"; readonly value: Json }
  /** The service and its providers decide what is checked, and how fast a model is run: the value changes nothing. */
  | { readonly kind: "checks" | "speed" };

const media = (kind: MediaKind, roles: readonly InputRole[], names: string) =>
  names.split(" ").map((name): [string, Meaning] => [name, { kind: "media", media: kind, roles }] as const);
const named = (kind: Exclude<Meaning["kind"], "parameter" | "media" | "constant">, names: string) =>
  names.split(" ").map((name): [string, Meaning] => [name, { kind }] as const);

/** Names that many APIs have for the same things; for a name that ends in a number, see `generalMeaning`. */
const GENERAL = new Map<string, Meaning>([
  ...media(
    "image",
    ["image", "first_frame", "reference"],
    "image images image_url image_urls input_image input_images image_input image_inputs init_image init_image_url init_images image_prompt source_image",
  ),
  ...media(
    "image",
    ["reference", "image", "first_frame"],
    "reference_image reference_images reference_image_url reference_image_urls subject_reference style_reference_images",
  ),
  ...media(
    "image",
    ["first_frame", "image"],
    "first_frame first_frame_image first_frame_url first_frame_image_url start_image start_image_url start_frame",
  ),
  ...media(
    "image",
    ["last_frame"],
    "last_frame last_frame_image last_frame_url last_frame_image_url last_image end_image end_image_url end_frame tail_image tail_image_url",
  ),
  ...media("image", ["mask"], "mask mask_url mask_image mask_image_url"),
  ...media(
    "video",
    ["video", "motion", "reference"],
    "video videos video_url video_urls input_video source_video reference_video",
  ),
  ...media("audio", ["audio"], "audio audio_url input_audio"),
  ...named(
    "count",
    "n num_outputs num_images number_of_images num_samples num_videos number_of_videos batch_size n_iter sample_count",
  ),
  ...named("length", "duration seconds duration_seconds num_seconds video_duration"),
  ...named("size", "size image_size video_size"),
  ...named("side", "width height"),
  ...named("ratio", "aspect_ratio"),
  ...named("format", "output_format image_format format"),
  ...named(
    "checks",
    "enable_safety_checker disable_safety_checker enable_safety_checks safety_tolerance auto_fix",
  ),
  ...named("speed", "go_fast acceleration"),
]);

/** What a name means that many APIs have. `input_image_3` is the third of `input_image`. */
export function generalMeaning(
  name: string,
): { readonly meaning: Meaning; readonly place: number } | undefined {
  const whole = GENERAL.get(name);
  if (whole !== undefined) return { meaning: whole, place: 1 };
  const [, base = "", place = ""] = /^(.+?)_?(\d{1,2})$/.exec(name) ?? [];
  const meaning = GENERAL.get(base);
  return meaning?.kind === "media" ? { meaning, place: Number(place) } : undefined;
}

/** Whether a value asks for nothing, as programs send it for what was not filled in, whether or not the model has such a field. */
export function asksNothing(value: Json): boolean {
  return value === "" || (Array.isArray(value) && value.length === 0);
}

/** Whether many APIs have the name for things of that kind. */
export const isNameOf = (kind: Meaning["kind"], name: string): boolean =>
  generalMeaning(name)?.meaning.kind === kind;

/** What an API calls the fields of one model, by a route's wording reversed. */
export interface Vocabulary {
  readonly meanings: ReadonlyMap<string, Meaning>;
  /** The API's name for a field of the model's own; of others, that is the same. */
  readonly theirs: ReadonlyMap<string, string>;
}

const vocabularies = new WeakMap<Route, Vocabulary>();

/** The words by which a route's upstream knows a model; see Route.wording. */
export function vocabularyOf(model: Model, route: Route): Vocabulary {
  const known = vocabularies.get(route);
  if (known !== undefined) return known;
  const made = reversed(model, route);
  vocabularies.set(route, made);
  return made;
}

function reversed(model: Model, { wording = {} }: Route): Vocabulary {
  const meanings = new Map<string, Meaning>();
  const theirs = new Map<string, string>();
  const same = (value: Json) => value;
  const parameter = (name: string, field: string, read: (value: Json) => Json) => {
    meanings.set(field, { kind: "parameter", name, read });
    theirs.set(name, field);
  };
  for (const [field, value] of Object.entries(wording.constants ?? {}))
    meanings.set(field, { kind: "constant", value });
  for (const [role, { field }] of Object.entries(wording.inputs ?? {})) {
    for (const { name, role: of, media: kind } of model.mediaFields) {
      if (of !== role) continue;
      theirs.set(name, field);
      meanings.set(field, { kind: "media", media: kind, roles: [of] });
    }
  }
  for (const [name, worded] of Object.entries(wording.parameters ?? {})) {
    // Several fields mean what they do in many APIs.
    if (worded.spread === true) continue;
    const type = propertyOf(model, name)?.type;
    parameter(name, worded.field ?? name, (value) => ownValue(worded, type, value));
  }
  if (wording.count !== undefined && propertyOf(model, "n") !== undefined)
    parameter("n", wording.count, same);
  if (wording.prompt !== undefined) parameter("prompt", wording.prompt, same);
  return { meanings, theirs };
}

/** Our value for an upstream's. One that it does not have stays as it is: the model's schema decides about it. */
function ownValue({ values, template }: ParameterWording, type: Json | undefined, value: Json): Json {
  const [ours] =
    Object.entries(values ?? {}).find(([, theirs]) => canonicalJson(theirs) === canonicalJson(value)) ?? [];
  if (ours !== undefined) return readScalar(type, ours);
  if (template === undefined || typeof value !== "string") return value;
  const [before = "", after = ""] = template.split("${value}");
  const isWorded =
    value.startsWith(before) && value.endsWith(after) && value.length > before.length + after.length;
  return isWorded ? readScalar(type, value.slice(before.length, value.length - after.length)) : value;
}

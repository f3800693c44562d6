import type { AtHand } from "../../../domain/at-hand.ts";
import { AppError, invalid } from "../../../domain/errors.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import type { MediaField, Model } from "../../../domain/model/model.ts";
import type { Catalog } from "../../../domain/ports/catalog.ts";
import type { InputRole } from "../../../domain/task/request.ts";
import { namesFrom } from "../../../domain/words/say.ts";
import { fitVideo } from "../../../service/fit-video.ts";
import { isList, propertyOf } from "../../../service/model-fields.ts";
import { type GivenMedia, type MediaContext, type MediaDeps, readMedia } from "./media.ts";
import { asObject, listOf, type Member, memberOf, objectOf, textOf } from "./members.ts";
import { addCount, addFilmSize, addLabels, addOwn, type Wanted } from "./parameters.ts";
import { OF_PREDICTIONS, PARAMETERS, readInstance } from "./pictures.ts";

/** A create body for the model's own schema, and the caller's names of its fields. */
export interface FilmRequest {
  readonly body: JsonObject;
  readonly names: Readonly<Record<string, string>>;
}

export interface FilmDeps extends MediaDeps {
  readonly catalog: Pick<Catalog, "routes" | "validate">;
}

const TRANSLATED = new Set([
  ...["sampleCount", "numberOfVideos", "aspectRatio", "resolution", "durationSeconds"],
]);
/** What films are checked for, and how a prompt is reworded, is the service's and its providers' affair. */
const OF_CHECKS = new Set(["personGeneration", "enhancePrompt", "resizeMode"]);
const OF_INSTANCES = new Set(["prompt", "image", "lastFrame", "referenceImages", "video", "mask"]);
const NONE: ReadonlySet<string> = new Set();

/** Reads a body of `predictLongRunning`. @throws AppError naming the field at fault */
export function readFilm(
  deps: FilmDeps,
  context: MediaContext,
  { model, body }: { readonly model: Model; readonly body: JsonObject },
): AtHand<FilmRequest> {
  const { instance, parameters } = readInstance(body);
  const at = instance.path;
  // Names are inherited: to copy them takes longer than to read one, which only messages do.
  const to: Wanted = { body: { model: model.id }, names: Object.create(absentNames(model)) };
  const wish = Object.keys(parameters).length === 0 ? NO_WISH : addParameters(model, to, parameters);
  addOwn(model, to, instance.value, { at, known: OF_INSTANCES, ignored: NONE });
  addOwn(model, to, body, { at: "", known: OF_PREDICTIONS, ignored: NONE });
  addLabels(model, to, body);
  addPrompt(model, to, textOf(instance.value, "prompt", at), `${at}.prompt`);
  const fitted = () => fittedFilm(deps, model, to, wish);
  // Most have no media, and every create would wait for them.
  const hasMore = Object.keys(instance.value).some((name) => name !== "prompt");
  return hasMore ? addMedia(deps, context, model, { to, instance }).then(fitted) : fitted();
}

/** What the service is to fit. */
interface FilmWish {
  readonly size?: Member | undefined;
  readonly seconds?: Member | undefined;
}

const NO_WISH: FilmWish = {};

function addParameters(model: Model, to: Wanted, parameters: JsonObject): FilmWish {
  const parameter = (name: string) => memberOf(parameters, name, PARAMETERS);
  const size = addFilmSize(model, to, {
    ratio: parameter("aspectRatio"),
    resolution: parameter("resolution"),
  });
  addCount(model, to, parameter("sampleCount") ?? parameter("numberOfVideos"));
  addOwn(model, to, parameters, { at: PARAMETERS, known: TRANSLATED, ignored: OF_CHECKS });
  return { size, seconds: parameter("durationSeconds") };
}

export function fittedFilm(
  { catalog }: Pick<FilmDeps, "catalog">,
  model: Model,
  to: Wanted,
  { size, seconds }: FilmWish,
): FilmRequest {
  if (size === undefined && seconds === undefined) return to;
  const wish = { size: size?.value, seconds: seconds?.value };
  const places: Record<string, string> = {};
  if (size !== undefined) places.size = size.path;
  if (seconds !== undefined) places.seconds = seconds.path;
  // `size` and `seconds` are how the service names what it cannot fit.
  const fitted = inOtherNames(places, () => fitVideo(catalog, model, to.body, wish));
  for (const field of Object.keys(fitted.names)) {
    const name = fitted.names[field] ?? field;
    to.names[field] = places[name] ?? name;
  }
  return { body: fitted.body, names: to.names };
}

/** Does what the service does, which names fields by its own names. @throws AppError with the caller's */
function inOtherNames<T>(names: Readonly<Record<string, string>>, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof AppError ? error.renamed(namesFrom(names)) : error;
  }
}

export function addPrompt(
  model: Model,
  { body, names }: Wanted,
  prompt: { readonly value: string } | undefined,
  path: string,
): void {
  names.prompt = path;
  if (prompt !== undefined && propertyOf(model, "prompt") !== undefined) body.prompt = prompt.value;
}

/** The purposes of an instance's parts; if there are several, the first that the model has. */
const ROLES = {
  image: ["first_frame", "image"],
  lastFrame: ["last_frame"],
  video: ["video"],
  mask: ["mask"],
  referenceImages: ["reference"],
} as const satisfies Record<string, readonly InputRole[]>;

/** Gives pictures and films to the model's fields for them. */
async function addMedia(
  deps: MediaDeps,
  context: MediaContext,
  model: Model,
  {
    to,
    instance,
  }: { readonly to: Wanted; readonly instance: { readonly value: JsonObject; readonly path: string } },
): Promise<void> {
  for (const name of ["image", "lastFrame", "video"] as const) {
    const member = memberOf(instance.value, name, instance.path);
    if (member !== undefined) give(model, to, ROLES[name], [await readMedia(deps, context, member)]);
  }
  const mask = objectOf(instance.value, "mask", instance.path);
  if (mask !== undefined) {
    const member = memberOf(mask.value, "image", mask.path) ?? mask;
    give(model, to, ROLES.mask, [await readMedia(deps, context, member)]);
  }
  const references: GivenMedia[] = [];
  for (const entry of listOf(instance.value, "referenceImages", instance.path)) {
    const { value, path } = asObject(entry);
    const picture = memberOf(value, "image", path) ?? memberOf(value, "referenceImage", path);
    references.push(await readMedia(deps, context, picture ?? entry));
  }
  if (references.length > 0) give(model, to, ROLES.referenceImages, references);
}

/** @throws AppError where the model has no field for so many media of these roles */
export function give(
  model: Model,
  { body, names }: Wanted,
  roles: readonly InputRole[],
  media: readonly GivenMedia[],
): void {
  const [first] = media;
  const field = fieldFor(model, roles, media.length);
  if (first === undefined) return;
  if (field === undefined) throw invalid({ kind: "media_unused", field: first.path, model: model.id });
  if (body[field.name] !== undefined) throw invalid({ kind: "given_twice", field: first.path });
  const addresses: Json[] = media.map(({ address }) => address);
  body[field.name] = isList(model, field) ? addresses : (addresses[0] ?? null);
  names[field.name] = first.path;
  for (const [i, { path }] of media.entries()) names[`${field.name}[${i}]`] = path;
}

/** Callers know a field that they did not give by that API's name for it. Of each model they are made once. */
const ABSENT = new WeakMap<Model, Readonly<Record<string, string>>>();

function absentNames(model: Model): Readonly<Record<string, string>> {
  return ABSENT.getOrInsertComputed(model, ({ mediaFields }) => {
    const names: Record<string, string> = { prompt: "instances[0].prompt" };
    for (const [part, roles] of Object.entries(ROLES))
      for (const { name, role } of mediaFields)
        if (roles.some((each) => each === role)) names[name] ??= `instances[0].${part}`;
    return names;
  });
}

/** The field for so many media of the first of these roles that the model has. */
function fieldFor(model: Model, roles: readonly InputRole[], count: number): MediaField | undefined {
  for (const role of roles) {
    const fields = model.mediaFields.filter((field) => field.role === role);
    const [single, list] = [false, true].map((isOne) =>
      fields.find((field) => isList(model, field) === isOne),
    );
    const field = count > 1 ? list : (single ?? list);
    if (field !== undefined) return field;
  }
  return undefined;
}

/** The roles of media that this API has a place for. */
export const FILM_ROLES: readonly InputRole[] = Object.values(ROLES).flat();

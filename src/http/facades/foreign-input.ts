import { AppError, invalid } from "../../domain/errors.ts";
import { type Json, type JsonObject, readScalar, setOwn } from "../../domain/json.ts";
import type { StillType } from "../../domain/media/asset.ts";
import { closestSize, parseSize } from "../../domain/media/size.ts";
import { alwaysOf } from "../../domain/model/always.ts";
import type { Model, Route } from "../../domain/model/model.ts";
import type { Catalog } from "../../domain/ports/catalog.ts";
import { namesFrom } from "../../domain/words/say.ts";
import { addSize, type ModelBody } from "../../service/compat-request.ts";
import { fitFormat } from "../../service/fit-format.ts";
import { fitVideo } from "../../service/fit-video.ts";
import { choices, type OfferedModel, propertyOf, takenChoices } from "../../service/model-fields.ts";
import { type ForeignMedia, putMedia } from "./foreign-media.ts";
import {
  hasProportions,
  isSizeLike,
  secondsOf,
  sizeOfSides,
  sizeText,
  type Wish,
  type Wishes,
} from "./foreign-sizes.ts";
import {
  asksNothing,
  generalMeaning,
  isNameOf,
  type Meaning,
  type Vocabulary,
  vocabularyOf,
} from "./foreign-words.ts";
import { knownOf } from "./known-words.ts";
import { parameterNamed } from "./parameter-names.ts";

/** A request to a model in the words of another API. A null field is absent. */
export interface ForeignInput {
  readonly fields: JsonObject;
  /** The prefix of the names of its fields in messages: `input.` */
  readonly at: string;
  /** Our route to that API, whose words are reversed. Absent: only names are known that many APIs have. */
  readonly route?: Route | undefined;
}

/** Values with which clients let the model decide, or other fields: Replicate's `custom` proportions are those of `width` and `height`. */
const LEFT_TO_MODEL: readonly Json[] = ["auto", "match_input_image", "custom"];

/** A request while it is translated into the model's own words. */
interface Fitting {
  readonly model: Model;
  readonly catalog: Pick<Catalog, "routes" | "validate">;
  readonly body: Record<string, Json>;
  /** By our name of a field, the caller's. */
  readonly names: Record<string, string>;
  /** This and the next are made with the first: few requests have any. */
  media: ForeignMedia[] | undefined;
  wishes: Wishes | undefined;
  resultType: StillType | undefined;
}

/** A body whose names the caller may add to. Those of fields that were not given are inherited. */
export interface ForeignBody extends ModelBody {
  readonly names: Record<string, string>;
}

/**
 * A create body in the model's own words, of what was asked in those of another API. A field is known by the wording of the route to
 * that API, by the model's own name, or by one that many APIs have; files go to fields of their role. What nobody knows goes along, so
 * that the model's schema refuses it, unless it is empty.
 *
 * @returns the body, and the caller's name for every field that the model has
 * @throws AppError `invalid_request` naming the caller's field, where the model has nothing for it
 */
export function fromForeign(
  catalog: Pick<Catalog, "routes" | "validate">,
  model: Model,
  given: ForeignInput,
): ForeignBody {
  const { fields, at, route } = given;
  const known = knownOf(model, given);
  const fitting: Fitting = {
    model,
    catalog,
    body: { model: model.id },
    // Names are inherited: to copy them for each create takes longer than to read one from there once.
    names: Object.create(known.names),
    media: undefined,
    wishes: undefined,
    resultType: undefined,
  };
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined || value === null) continue;
    const param = at + name;
    if (typeof value === "string" && known.texts.has(name)) write(fitting, name, param, value);
    else take(fitting, route && vocabularyOf(model, route), { name, param, value });
  }
  const { body, names, media, wishes, resultType } = fitting;
  if (media !== undefined) putMedia({ model, media, body, names });
  const put = wishes === undefined ? { body, names } : putWishes(fitting, wishes);
  return resultType === undefined ? put : { ...put, resultType };
}

function wishFor(fitting: Fitting, what: Parameters<Wishes["set"]>[0], given: Wish): void {
  fitting.wishes ??= new Map();
  fitting.wishes.set(what, given);
}

function addMedia(fitting: Fitting, given: ForeignMedia): void {
  fitting.media ??= [];
  fitting.media.push(given);
}

type Given = Wish & { readonly name: string };

function take(fitting: Fitting, words: Vocabulary | undefined, given: Given): void {
  const { model } = fitting;
  const { name } = given;
  const worded = words?.meanings.get(name);
  const own = model.mediaFields.find((field) => field.name === name);
  if (worded !== undefined) takeMeaning(fitting, worded, given, 1);
  else if (own !== undefined) addMedia(fitting, { ...given, field: own, place: 1 });
  else if (propertyOf(model, name) !== undefined && !isLeft(model, given)) takeOwn(fitting, name, given);
  else takeGeneral(fitting, given);
}

/**
 * A field by a name that many APIs have, for a parameter of the model's own or for what it does anyway. One that nobody knows goes
 * along, unless it asks for nothing.
 */
function takeGeneral(fitting: Fitting, given: Given): void {
  const { model } = fitting;
  const { name, value } = given;
  const own = parameterNamed(model, name, value);
  if (own !== undefined) {
    if (!asksNothing(value)) put(fitting, own, given);
    return;
  }
  const general = generalMeaning(name);
  if (general !== undefined) takeMeaning(fitting, general.meaning, given, general.place);
  else if (!asksNothing(value) && value !== "auto") put(fitting, name, given);
}

/** Whether a value leaves to the model what it has no such choice for. */
function isLeft(model: Model, { name, value }: Pick<Given, "name" | "value">): boolean {
  if (!LEFT_TO_MODEL.includes(value)) return false;
  const known = choices(model, name);
  return known.length > 0 && !known.includes(String(value));
}

/** A field that has the model's own name for it. Names of sizes mean the same everywhere, and are fitted. */
function takeOwn(fitting: Fitting, name: string, given: Given): void {
  const { model } = fitting;
  const isFitted = name === "size" && isSizeLike(given.value) && model.kind === "image";
  if (isFitted) wishFor(fitting, "size", given);
  else if (name === "output_format") putFormat(fitting, given);
  else put(fitting, name, given);
}

function takeMeaning(fitting: Fitting, meaning: Meaning, given: Given, place: number): void {
  const { model } = fitting;
  const { name, value } = given;
  switch (meaning.kind) {
    case "parameter":
      putWorded(fitting, meaning, given);
      break;
    case "media":
      addMedia(fitting, { ...given, media: meaning.media, roles: meaning.roles, place });
      break;
    case "constant":
      if (value !== meaning.value && !isNameOf("speed", name)) throw unchoosable(model, given);
      break;
    case "count":
      if (propertyOf(model, "n") !== undefined) put(fitting, "n", given);
      else if (value !== 1) throw unchoosable(model, given);
      break;
    case "format":
      putFormat(fitting, given);
      break;
    case "checks":
    case "speed":
      break;
    case "side":
      wishFor(fitting, name === "width" ? "width" : "height", given);
      break;
    default:
      if (!LEFT_TO_MODEL.includes(value)) wishFor(fitting, meaning.kind, given);
  }
}

/** A value in the words of a route. A size that the route has no word for is fitted, as sizes are of models without that route. */
function putWorded(fitting: Fitting, { name, read }: Extract<Meaning, { kind: "parameter" }>, given: Given) {
  const value = read(given.value);
  if (isSizeLike(value) && isNameOf("size", given.name)) wishFor(fitting, "size", given);
  else if (name === "output_format") putFormat(fitting, { ...given, value });
  else put(fitting, name, { ...given, value });
}

/** Writes a field of the model's own, in the type that its schema has for it. */
function put(fitting: Fitting, name: string, { param, value }: Wish): void {
  const [always] = alwaysOf(fitting.model, name) ?? [];
  const property = always === undefined ? propertyOf(fitting.model, name) : { type: typeof always };
  write(fitting, name, param, inType(property, value));
}

function write({ body, names }: Fitting, name: string, param: string, value: Json): void {
  if (Object.hasOwn(body, name)) throw invalid({ kind: "given_twice", field: param });
  setOwn(body, name, value);
  setOwn(names, name, param);
}

/**
 * APIs write numbers as text, choices that are texts here as numbers or as true and false, and texts in other cases. A number is no
 * text that is free, such as a prompt.
 */
function inType(property: JsonObject | undefined, value: Json): Json {
  const { type, enum: listed } = property ?? {};
  if (type !== "string" || !Array.isArray(listed))
    return typeof value === "string" ? readScalar(type, value) : value;
  if (typeof value === "number") return String(value);
  if (listed.includes(value)) return value;
  const words = SAME_CHOICES[String(value).toLowerCase()] ?? [String(value).toLowerCase()];
  const same = listed.filter((each) => words.includes(String(each).toLowerCase()));
  return same.length === 1 && same[0] !== undefined ? same[0] : value;
}

/** Choices that models have by other names. Ideogram's `default` speed is fal's `BALANCED`, at the same price (checked 2026-12-01). */
const SAME_CHOICES: Readonly<Record<string, readonly string[]>> = {
  true: ["on", "multi"],
  false: ["off", "single"],
  balanced: ["balanced", "default"],
};

function putFormat(fitting: Fitting, given: Wish): void {
  const { model } = fitting;
  const { value } = given;
  if (asksNothing(value)) return;
  const fitted =
    fitFormat(model, value) ?? (typeof value === "string" && fitFormat(model, value.toLowerCase()));
  if (!fitted) throw unchoosable(model, given);
  if (fitted.kind === "told") put(fitting, "output_format", { ...given, value: fitted.value });
  else fitting.resultType = fitted.type;
}

/** Meets wishes for size and length by what the model has for them. */
function putWishes(fitting: Fitting, wishes: Wishes): ForeignBody {
  const { model, catalog, body, names } = fitting;
  const size = wishes.get("size") ?? sizeOfSides(wishes);
  const length = wishes.get("length");
  const ratio = wishes.get("ratio");
  if (ratio !== undefined) putRatio(fitting, ratio);
  const wanted = size && { ...size, value: sizeText(size) };
  if (model.kind === "image") {
    if (length !== undefined) throw unchoosable(model, length);
    if (wanted !== undefined) putImageSize(fitting, wanted);
    return { body, names };
  }
  const theirs = namesFrom({ size: wanted?.param ?? "size", seconds: length?.param ?? "seconds" });
  try {
    const wish = { size: wanted?.value, seconds: length && secondsOf(length.value) };
    const fitted = fitVideo(catalog, model, body, wish);
    for (const [name, wished] of Object.entries(fitted.names)) names[name] = theirs(wished);
    return { body: fitted.body, names };
  } catch (error) {
    throw error instanceof AppError ? error.renamed(theirs) : error;
  }
}

const offeredOf = ({ model, catalog }: Fitting): OfferedModel => ({ model, routes: catalog.routes(model) });

function putImageSize(fitting: Fitting, wanted: Wish): void {
  const { model, body, names } = fitting;
  const before = Object.keys(body).length;
  try {
    addSize(offeredOf(fitting), wanted.value, body, names);
  } catch (error) {
    throw error instanceof AppError ? error.renamed(namesFrom({ size: wanted.param })) : error;
  }
  for (const [name, param] of Object.entries(names)) if (param === "size") names[name] = wanted.param;
  if (Object.hasOwn(body, "size") || names.size === "size") names.size = wanted.param;
  if (Object.keys(body).length === before) throw unchoosable(model, wanted);
}

/** Translates proportions for a model with a list of sizes: to the size that has them, with about a million pixels. */
function putRatio(fitting: Fitting, { param, value }: Wish): void {
  const { model, body, names } = fitting;
  const ratio = typeof value === "string" ? /^(\d{1,4}):(\d{1,4})$/.exec(value) : null;
  const [, across = 0, down = 0] = (ratio ?? []).map(Number);
  const wanted = { width: across, height: down };
  const all = takenChoices(offeredOf(fitting), "size");
  const sizes = all.filter((size) => hasProportions(parseSize(size), wanted));
  const scale = Math.sqrt(1024 ** 2 / (across * down || 1));
  const size = closestSize({ width: across * scale, height: down * scale }, sizes);
  if (size === undefined || body.size !== undefined) throw unchoosable(model, { param, value });
  body.size = size;
  names.size = param;
}

function unchoosable({ id: model }: Model, { param, value }: Wish): AppError {
  return invalid({ kind: "not_a_choice", field: param, model, given: { json: value } });
}

import { AppError, invalid } from "../../../domain/errors.ts";
import { isJsonObject, type Json } from "../../../domain/json.ts";
import type { MediaField, Model } from "../../../domain/model/model.ts";
import type { Catalog } from "../../../domain/ports/catalog.ts";
import type { ModelBody } from "../../../service/compat-request.ts";
import { fitVideo } from "../../../service/fit-video.ts";
import { imageField, isList, propertyOf, readText } from "../../../service/model-fields.ts";
import { type ModelDeps, readCompatModel } from "../../../service/read-model.ts";
import { addressOf } from "../../compat/read-request.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { type GivenFile, REFERENCE, type VideoBody } from "./read-request.ts";

/** The model of a request without one, as that API has it: here, a name that an operator can give to any model. */
const DEFAULT_MODEL = "sora-2";

/** @throws AppError `model_not_found` for a model that makes something else, too */
export function videoModel(deps: ModelDeps, { principal }: KeyedExchange, id: Json = DEFAULT_MODEL): Model {
  const model = readCompatModel(deps, principal, id);
  if (model.kind === "video") return model;
  throw new AppError("model_not_found", { kind: "image_model_here", model: model.id, field: "model" });
}

/** Fields that are translated one by one, or mean nothing here: a video is one file. */
const NOT_FOR_MODELS = new Set(["model", "prompt", "size", "seconds", "n", "user", "safety_identifier"]);

/** Gives a model the file of a request. @param body is changed, and so are the caller's `names` for its fields */
export type AddFile = (
  model: Model,
  file: GivenFile | undefined,
  body: Record<string, Json>,
  names: Record<string, string>,
) => void;

/** A request in the model's own words, and the caller's names for its fields. Fields that the model has pass unchanged; others are ignored. */
export function bodyFor(
  { catalog }: { readonly catalog: Pick<Catalog, "routes" | "validate"> },
  model: Model,
  { fields, isText, file }: Pick<VideoBody, "fields" | "isText" | "file">,
  addFile: AddFile,
): ModelBody {
  const given = isText ? readText(model, fields) : fields;
  const body: Record<string, Json> = { model: model.id };
  const names: Record<string, string> = {};
  for (const name of Object.keys(given)) {
    if (NOT_FOR_MODELS.has(name)) continue;
    const value = given[name];
    if (value !== undefined && propertyOf(model, name) !== undefined) body[name] = value;
  }
  const { prompt, size, seconds } = given;
  if (prompt === undefined) throw invalid({ kind: "required", field: "prompt" });
  if (propertyOf(model, "prompt") !== undefined) body.prompt = prompt;
  addFile(model, file, body, names);
  if (size === undefined && seconds === undefined) return { body, names };
  const fitted = fitVideo(catalog, model, body, { size, seconds });
  return { body: fitted.body, names: { ...names, ...fitted.names } };
}

/** The field of each model for a picture that guides it, which every create asks for. */
const guides = new WeakMap<Model, { readonly field: MediaField | undefined }>();

/** Gives the picture to the model's field for one. A model that needs one is told of by the name that callers know it by. */
export const addPicture: AddFile = (model, file, body, names) => {
  const field = guides.getOrInsertComputed(model, () => ({ field: imageField(model, 1) })).field;
  if (file === undefined) {
    if (field !== undefined && body[field.name] === undefined) names[field.name] = REFERENCE;
    return;
  }
  const { param, value } = file;
  const address = addressOf(REFERENCE, value);
  if (field === undefined) throw invalid({ kind: "image_unused", field: REFERENCE, model: model.id });
  const member = isJsonObject(value) ? Object.keys(value).find((name) => value[name] === address) : undefined;
  const given = { param: member === undefined ? param : `${REFERENCE}.${member}`, address };
  giveFile(model, field, given, body, names);
};

/** @param file the address of a file, or the name of an upload, and what the caller calls it */
export function giveFile(
  model: Model,
  field: MediaField,
  { param, address }: { readonly param: string; readonly address: string },
  body: Record<string, Json>,
  names: Record<string, string>,
): void {
  if (body[field.name] !== undefined) throw invalid({ kind: "given_twice", field: param });
  body[field.name] = isList(model, field) ? [address] : address;
  names[field.name] = param;
  names[`${field.name}[0]`] = param;
}

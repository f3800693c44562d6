import { invalid } from "../../../../domain/errors.ts";
import type { Json, JsonObject } from "../../../../domain/json.ts";
import type { Model } from "../../../../domain/model/model.ts";
import type { InputRole } from "../../../../domain/task/request.ts";
import { addPrompt, type FilmDeps, type FilmRequest, fittedFilm, give } from "../films.ts";
import type { MediaContext } from "../media.ts";
import type { Member } from "../members.ts";
import {
  addFilmSize,
  addPictureSize,
  labelOf,
  put,
  unchoosable,
  type Wanted,
  wanted,
} from "../parameters.ts";
import { addFormat, type PictureRequest, requestOf } from "../pictures.ts";
import { type GivenFile, type InputDeps, readInput } from "./input.ts";
import { readFormat } from "./settings.ts";

const INPUT = "input";
const EXTEND = "extend";
/** What the input of a video may be for. */
const TASKS = ["text_to_video", "image_to_video", "reference_to_video", "edit", EXTEND];

interface Given {
  readonly model: Model;
  readonly body: JsonObject;
}

/** Reads an interaction that is to make pictures. @throws AppError naming the field at fault */
export async function readPictures(
  deps: InputDeps,
  context: MediaContext,
  { model, body }: Given,
): Promise<PictureRequest> {
  const to = wanted();
  const { ratio, size, duration, mimeType, task } = readFormat(model, to, body);
  const { prompt, files } = await readInput(deps, context, body);
  const film = files.find(({ kind }) => kind === "video");
  if (film !== undefined) throw invalid({ kind: "media_unused", field: film.path, model: model.id });
  for (const member of [duration, task]) if (member !== undefined) throw unchoosable(model, member);
  addPictureSize(model, to, { ratio, size });
  addFormat(model, to, mimeType);
  return requestOf(model, to, { prompt, promptPath: INPUT, pictures: files, ratio });
}

/** Reads an interaction that is to make a video. @throws AppError naming the field at fault */
export async function readVideo(
  deps: InputDeps & FilmDeps,
  context: MediaContext,
  { model, body }: Given,
): Promise<FilmRequest> {
  const names = Object.fromEntries(model.mediaFields.map(({ name }) => [name, INPUT]));
  const to: Wanted = { body: { model: model.id }, names };
  const { ratio, size: resolution, duration, mimeType, task } = readFormat(model, to, body);
  // What nobody here can do, such as `upscale`, would be another video at the same price.
  if (task !== undefined && !TASKS.includes(labelOf(task))) throw unchoosable(model, task);
  const { prompt, files } = await readInput(deps, context, body);
  const size = addFilmSize(model, to, { ratio, resolution });
  if (mimeType !== undefined) addFormat(model, to, mimeType);
  addPrompt(model, to, prompt === undefined ? undefined : { value: prompt }, INPUT);
  addFiles(model, to, files, task?.value);
  addExtension(model, to, task);
  return fittedFilm(deps, model, to, { size, seconds: duration });
}

/**
 * Gives files to the model's fields for them: videos to change, a picture to begin with, and several as what to show, or where the model
 * shows none, the two to begin and to end with.
 */
function addFiles(model: Model, to: Wanted, files: readonly GivenFile[], task: Json | undefined): void {
  const films = files.filter(({ kind }) => kind === "video");
  const pictures = files.filter(({ kind }) => kind === "image");
  const [first, last] = pictures;
  give(model, to, ["video"], films);
  if (films.length > 0 || task === "reference_to_video") give(model, to, ["reference"], pictures);
  else if (first !== undefined && last !== undefined && isBetween(model, pictures.length, task)) {
    give(model, to, BEGINNING, [first]);
    give(model, to, ["last_frame"], [last]);
  } else give(model, to, pictures.length > 1 ? [...SHOWN, "image"] : [...BEGINNING, ...SHOWN], pictures);
}

const BEGINNING: readonly InputRole[] = ["first_frame", "image"];
const SHOWN: readonly InputRole[] = ["reference"];

/** Whether pictures are where a video begins and ends. */
function isBetween({ mediaFields }: Model, count: number, task: Json | undefined): boolean {
  const has = (role: InputRole) => mediaFields.some((field) => field.role === role);
  return count === 2 && has("last_frame") && (task === "image_to_video" || !has("reference"));
}

/** Whether a video is changed or goes on. @throws AppError where the model cannot go on with one */
function addExtension(model: Model, to: Wanted, task: Member | undefined): void {
  if (task?.value !== EXTEND) return;
  const extend = model.followUps?.extend;
  if (extend === undefined) throw unchoosable(model, task);
  for (const [field, value] of Object.entries(extend)) put(to, field, { value, path: task.path });
}

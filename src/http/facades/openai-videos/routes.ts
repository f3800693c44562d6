import type { AtHand } from "../../../domain/at-hand.ts";
import { AppError, invalid, mustBe } from "../../../domain/errors.ts";
import { isId, type TaskId } from "../../../domain/ids.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import type { MediaField, Model } from "../../../domain/model/model.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { CreateTask } from "../../../service/create-task.ts";
import type { CreatedTask } from "../../../service/created-task.ts";
import { fitVideo } from "../../../service/fit-video.ts";
import { imageField, isList, propertyOf, readText } from "../../../service/model-fields.ts";
import { type ModelDeps, readCompatModel } from "../../../service/read-model.ts";
import { readTask } from "../../../service/read-task.ts";
import { remixTask } from "../../../service/remix-task.ts";
import { type RemoveTaskDeps, removeTask } from "../../../service/remove-task.ts";
import type { RetryTaskDeps } from "../../../service/retry-task.ts";
import { accepted } from "../../accepted.ts";
import { type Endpoint, type KeyedExchange, keyed, polled } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { inOtherWords, inWords, sentBy } from "../create.ts";
import { type ContentDeps, videoContent } from "./content.ts";
import { createTellVideo, presentNewVideo, type TellVideo, UNKNOWN } from "./present.ts";
import { REFERENCE, type Reference, readVideoBody, type VideoBody } from "./read-request.ts";
import {
  CREATE_COMPATIBLE_VIDEO,
  DELETE_COMPATIBLE_VIDEO,
  LIST_COMPATIBLE_VIDEOS,
  LIST_QUERY,
  READ_COMPATIBLE_VIDEO,
  READ_VIDEO_CONTENT,
  REMIX_COMPATIBLE_VIDEO,
} from "./wire.ts";

export interface VideoFacadeDeps extends ModelDeps, RetryTaskDeps, RemoveTaskDeps, ContentDeps {
  readonly tasks: TaskStore;
  readonly assets: AssetStore;
  readonly catalog: ModelDeps["catalog"];
  readonly clock: Pick<Clock, "now">;
  readonly createTask: CreateTask;
}

interface Deps extends VideoFacadeDeps {
  readonly tell: TellVideo;
}

const PATH = "/compat/v1/videos";
const ENDPOINT = `POST ${PATH}`;
const ONE = `${PATH}/:video_id`;
const CREATES = { feature: "videos", isCounted: true, sheds: "creates" } as const;

/** The videos API that clients of OpenAI's speak (docs/api.md 5.8). A video is a task, and its id is the task's. */
export function openaiVideoEndpoints(given: VideoFacadeDeps): Endpoint[] {
  const deps = { ...given, tell: createTellVideo(given) };
  return [
    keyed("POST", PATH, CREATE_COMPATIBLE_VIDEO, CREATES, (exchange) => create(deps, exchange)),
    polled(PATH, LIST_COMPATIBLE_VIDEOS, (exchange) => list(deps, exchange), "lists"),
    polled(ONE, READ_COMPATIBLE_VIDEO, (exchange) => read(deps, exchange), "reads"),
    keyed("DELETE", ONE, DELETE_COMPATIBLE_VIDEO, {}, (exchange) => remove(deps, exchange)),
    keyed("GET", `${ONE}/content`, READ_VIDEO_CONTENT, { logLevel: "debug" }, (exchange) =>
      videoContent(deps, exchange),
    ),
    keyed("POST", `${ONE}/remix`, REMIX_COMPATIBLE_VIDEO, CREATES, (exchange) => remix(deps, exchange)),
  ];
}

/** The model of a request without one, as that API has it: here, a name that an operator can give to any model. */
const DEFAULT_MODEL = "sora-2";

const noVideo = () => new AppError("task_not_found", { kind: "task_unknown" });

async function create(deps: Deps, exchange: KeyedExchange): Promise<Reply> {
  const given = await readVideoBody(deps, exchange, { picture: true });
  let words: Readonly<Record<string, string>> = {};
  try {
    const sent = sentBy(exchange);
    const model = videoModel(deps, exchange, given.fields.model);
    const { body, names } = bodyFor(deps, model, given);
    words = names;
    const { identity, uploads, inlineFiles } = given;
    const created = await deps.createTask({
      ...sent,
      kind: "video",
      endpoint: ENDPOINT,
      body,
      identity,
      uploads,
      inlineFiles,
    });
    const answered = answer(deps, created, given.fields.size);
    return answered instanceof Promise ? await answered : answered;
  } catch (error) {
    throw inWords(words, error);
  } finally {
    // An await would cost a turn of the event loop, and most bodies have no files.
    if (given.release !== undefined) await given.release();
  }
}

/** @throws AppError `model_not_found` for a model that makes something else, too */
function videoModel(deps: ModelDeps, { principal }: KeyedExchange, id: Json = DEFAULT_MODEL): Model {
  const model = readCompatModel(deps, principal, id);
  if (model.kind === "video") return model;
  throw new AppError("model_not_found", { kind: "image_model_here", model: model.id, field: "model" });
}

/** Fields that are translated one by one, or mean nothing here: a video is one file. */
const NOT_FOR_MODELS = new Set(["model", "prompt", "size", "seconds", "n", "user", "safety_identifier"]);

/** A request in the model's own words, and the caller's names for its fields. Fields that the model has pass unchanged; others are ignored. */
function bodyFor({ catalog }: VideoFacadeDeps, model: Model, { fields, isText, reference }: VideoBody) {
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
  addReference(model, reference, body, names);
  if (size === undefined && seconds === undefined) return { body, names };
  const fitted = fitVideo(catalog, model, body, { size, seconds });
  return { body: fitted.body, names: { ...names, ...fitted.names } };
}

/** The field of each model for a picture that guides it, which every create asks for. */
const guides = new WeakMap<Model, { readonly field: MediaField | undefined }>();

/** Gives the picture to the model's field for one. A model that needs one is told of by the name that callers know it by. */
function addReference(
  model: Model,
  reference: Reference | undefined,
  body: Record<string, Json>,
  names: Record<string, string>,
): void {
  const field = guides.getOrInsertComputed(model, () => ({ field: imageField(model, 1) })).field;
  if (reference === undefined) {
    if (field !== undefined && body[field.name] === undefined) names[field.name] = REFERENCE;
    return;
  }
  const { param, address } = reference;
  if (field === undefined) throw invalid({ kind: "image_unused", field: REFERENCE, model: model.id });
  if (body[field.name] !== undefined) throw invalid({ kind: "given_twice", field: param });
  body[field.name] = isList(model, field) ? [address] : address;
  names[field.name] = param;
  names[`${field.name}[0]`] = param;
}

/** Answers with the task that a create made, or had made before. @param asked the size that it asked for, if any */
function answer(deps: Deps, created: CreatedTask, asked?: Json): AtHand<Reply> {
  const { taskId, task } = created;
  // Nothing has to be waited for with a new one.
  if (task !== undefined) return replyOf(created, { ...presentNewVideo(task), model: task.model }, asked);
  return toldAgain(deps, taskId).then((told) =>
    replyOf(
      created,
      { text: JSON.stringify(told), size: String(told.size), model: String(told.model) },
      asked,
    ),
  );
}

const ADJUSTED = { "X-Svc-Adjusted": "size" } as const;

function replyOf(
  created: CreatedTask,
  told: { readonly text: string; readonly size: string; readonly model: string },
  asked: Json | undefined,
): Reply {
  const isMet = asked === undefined || asked === "auto" || told.size === asked || told.size === UNKNOWN;
  const log = { task: created.taskId, model: told.model };
  return accepted(created, { own: isMet ? undefined : ADJUSTED, body: told.text, log });
}

/** @throws AppError `task_not_found`: the first answer to a key may have been for a task that was deleted since */
async function toldAgain(deps: Deps, id: TaskId): Promise<JsonObject> {
  const task = await deps.tasks.summary(id);
  const told = task && (await deps.tell(task));
  if (told === undefined) throw noVideo();
  return told;
}

async function read(deps: Deps, { principal, param }: KeyedExchange): Promise<Reply> {
  const task = await readTask(deps, principal, param("video_id"), "video");
  const told = await deps.tell(task);
  if (told === undefined) throw noVideo();
  return json(told);
}

async function remove(deps: Deps, { principal, param }: KeyedExchange): Promise<Reply> {
  const { id } = await readTask(deps, principal, param("video_id"), "video");
  await removeTask(deps, principal, id);
  return json({ id, object: "video.deleted", deleted: true }, undefined, { task: id });
}

/** The query of a listing, once its schema has checked it. */
interface ListQuery {
  readonly limit?: number;
  readonly order?: "asc" | "desc";
  readonly after?: string;
}

const DEFAULT_LIMIT = 20;

async function list(deps: Deps, { principal, query }: KeyedExchange): Promise<Reply> {
  const { limit = DEFAULT_LIMIT, order = "desc", after } = checkQuery(LIST_QUERY, query()) as ListQuery;
  if (after !== undefined && !isId("task", after)) throw mustBe("after", { form: "task_id" }, after);
  const { accountId } = principal;
  // One more than asked for shows whether there is another page.
  const filter = { accountId, kind: "video", after, limit: limit + 1 } as const;
  const found = await deps.tasks.list(filter, order === "asc" ? "oldest" : "newest");
  const page = found.slice(0, limit);
  const told = await Promise.all(page.map((task) => deps.tell(task)));
  return json({
    object: "list",
    data: told.filter((video) => video !== undefined),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: found.length > limit,
  });
}

async function remix(deps: Deps, exchange: KeyedExchange): Promise<Reply> {
  const { fields, release } = await readVideoBody(deps, exchange, { picture: false });
  await release?.();
  const { principal, param } = exchange;
  const { id } = await readTask(deps, principal, param("video_id"), "video");
  const prompt = promptOf(fields);
  const sent = { ...sentBy(exchange), id, prompt, endpoint: `POST ${PATH}/${id}/remix` };
  const created = await inOtherWords({ task_id: "video_id" }, () => remixTask(deps, sent));
  return answer(deps, created);
}

/** @throws AppError naming `prompt`; what else is wrong with it, the model's schema says */
function promptOf({ prompt }: JsonObject): string {
  if (prompt === undefined) throw invalid({ kind: "required", field: "prompt" });
  if (typeof prompt !== "string") throw mustBe("prompt", { form: "text" }, { json: prompt });
  return prompt;
}

import { invalid, mustBe } from "../../../domain/errors.ts";
import { isId } from "../../../domain/ids.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import { type CreateOrJoinDeps, createCreateOrJoin } from "../../../service/create-or-join.ts";
import type { ModelDeps } from "../../../service/read-model.ts";
import { readTask } from "../../../service/read-task.ts";
import { remixTask } from "../../../service/remix-task.ts";
import { type RemoveTaskDeps, removeTask } from "../../../service/remove-task.ts";
import type { RetryTaskDeps } from "../../../service/retry-task.ts";
import { type Endpoint, type KeyedExchange, keyed, polled } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { inOtherWords, inWords, sentBy } from "../create.ts";
import { answer, noVideo } from "./answer.ts";
import { addPicture, bodyFor, videoModel } from "./body.ts";
import { type ContentDeps, videoContent } from "./content.ts";
import { makeFromVideo } from "./from-video.ts";
import { createTellVideo, type TellVideo } from "./present.ts";
import { REFERENCE, readVideoBody } from "./read-request.ts";
import {
  CREATE_COMPATIBLE_VIDEO,
  DELETE_COMPATIBLE_VIDEO,
  EDIT_COMPATIBLE_VIDEO,
  EXTEND_COMPATIBLE_VIDEO,
  LIST_COMPATIBLE_VIDEOS,
  LIST_QUERY,
  READ_COMPATIBLE_VIDEO,
  READ_VIDEO_CONTENT,
  REMIX_COMPATIBLE_VIDEO,
} from "./wire.ts";

export interface VideoFacadeDeps
  extends ModelDeps,
    RetryTaskDeps,
    RemoveTaskDeps,
    ContentDeps,
    Omit<CreateOrJoinDeps, "equalCalls"> {
  readonly tasks: TaskStore;
  readonly assets: AssetStore;
  readonly catalog: ModelDeps["catalog"];
  readonly clock: Clock;
}

interface Deps extends VideoFacadeDeps {
  readonly tell: TellVideo;
}

const PATH = "/compat/v1/videos";
const ENDPOINT = `POST ${PATH}`;
const ONE = `${PATH}/:video_id`;
/** The ways in which a video is made from another, each with its path. */
const FROM_VIDEO = [
  ["edit", `${PATH}/edits`, EDIT_COMPATIBLE_VIDEO],
  ["extend", `${PATH}/extensions`, EXTEND_COMPATIBLE_VIDEO],
] as const;
const CREATES = { feature: "videos", isCounted: true, sheds: "creates" } as const;

/** The videos API that clients of OpenAI's speak (docs/api.md 5.8). A video is a task, and its id is the task's. */
export function openaiVideoEndpoints(given: VideoFacadeDeps): Endpoint[] {
  // Whichever way a video is made: clients send each request again by themselves when its connection is lost.
  const deps = { ...given, tell: createTellVideo(given), createTask: createCreateOrJoin(given) };
  return [
    keyed("POST", PATH, CREATE_COMPATIBLE_VIDEO, CREATES, (exchange) => create(deps, exchange)),
    polled(PATH, LIST_COMPATIBLE_VIDEOS, (exchange) => list(deps, exchange), "lists"),
    polled(ONE, READ_COMPATIBLE_VIDEO, (exchange) => read(deps, exchange), "reads"),
    keyed("DELETE", ONE, DELETE_COMPATIBLE_VIDEO, {}, (exchange) => remove(deps, exchange)),
    keyed("GET", `${ONE}/content`, READ_VIDEO_CONTENT, { logLevel: "debug" }, (exchange) =>
      videoContent(deps, exchange),
    ),
    keyed("POST", `${ONE}/remix`, REMIX_COMPATIBLE_VIDEO, CREATES, (exchange) => remix(deps, exchange)),
    ...FROM_VIDEO.map(([way, path, contract]) =>
      keyed("POST", path, contract, CREATES, (exchange) =>
        makeFromVideo(deps, exchange, { way, endpoint: `POST ${path}` }),
      ),
    ),
  ];
}

async function create(deps: Deps, exchange: KeyedExchange): Promise<Reply> {
  const given = await readVideoBody(deps, exchange, REFERENCE);
  let words: Readonly<Record<string, string>> = {};
  try {
    const sent = sentBy(exchange);
    const model = videoModel(deps, exchange, given.fields.model);
    const { body, names } = bodyFor(deps, model, given, addPicture);
    words = names;
    const { identity, uploads, inlineFiles } = given;
    const created = await deps.createTask({
      ...sent,
      kind: "video",
      endpoint: ENDPOINT,
      ...{ body, identity, uploads, inlineFiles },
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
  const { fields, release } = await readVideoBody(deps, exchange);
  await release?.();
  const id = exchange.param("video_id");
  const prompt = promptOf(fields);
  const sent = {
    ...sentBy(exchange),
    id,
    prompt,
    kind: "video" as const,
    endpoint: `POST ${PATH}/${id}/remix`,
  };
  const created = await inOtherWords({ task_id: "video_id" }, () => remixTask(deps, sent));
  return answer(deps, created);
}

/** @throws AppError naming `prompt`; what else is wrong with it, the model's schema says */
function promptOf({ prompt }: JsonObject): string {
  if (prompt === undefined) throw invalid({ kind: "required", field: "prompt" });
  if (typeof prompt !== "string") throw mustBe("prompt", { form: "text" }, { json: prompt });
  return prompt;
}

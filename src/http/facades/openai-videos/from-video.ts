import { invalid, mustBe } from "../../../domain/errors.ts";
import { isJsonObject, type Json } from "../../../domain/json.ts";
import type { MediaField, Model } from "../../../domain/model/model.ts";
import { sourceField } from "../../../domain/model/source-field.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Task } from "../../../domain/task/task.ts";
import { createFrom } from "../../../service/create-from.ts";
import { pathOfResult, unable } from "../../../service/follow-up-task.ts";
import { propertyOf } from "../../../service/model-fields.ts";
import { listModels, type ModelDeps } from "../../../service/read-model.ts";
import { findOwnStory, mostHops, type RetryTaskDeps } from "../../../service/retry-task.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { Reply } from "../../reply.ts";
import { inWords, sentBy } from "../create.ts";
import { type AnswerDeps, answer, noVideo } from "./answer.ts";
import { type AddFile, bodyFor, giveFile, videoModel } from "./body.ts";
import { type GivenFile, readVideoBody, SOURCE } from "./read-request.ts";

/** The ways in which that API makes a video from another, and the relation of the new task to the other's. */
const RELATIONS = { edit: "remix", extend: "extend" } as const;
type Way = keyof typeof RELATIONS;

interface Deps extends AnswerDeps, ModelDeps, RetryTaskDeps {
  readonly tasks: AnswerDeps["tasks"] & RetryTaskDeps["tasks"];
  readonly catalog: ModelDeps["catalog"];
  readonly assets: Pick<AssetStore, "stage" | "receive">;
}

/** A video, as a file or an address, and what its caller calls it. */
interface Source {
  readonly param: string;
  readonly address: string;
  /** The task that made it, if the caller named one. */
  readonly task?: Task | undefined;
}

/**
 * Creates a task that changes or continues a video: one of the account's by its id, or a file. The model is the named one, else
 * the one that made the video.
 * @throws AppError `task_not_found`; `invalid_request` if the model cannot do this; whatever the create throws
 */
export async function makeFromVideo(
  deps: Deps,
  exchange: KeyedExchange,
  { way, endpoint }: { readonly way: Way; readonly endpoint: string },
): Promise<Reply> {
  const given = await readVideoBody(deps, exchange, SOURCE);
  const { fields, identity, uploads, inlineFiles, release } = given;
  let words: Readonly<Record<string, string>> = { task_id: `${SOURCE}.id` };
  try {
    const sent = sentBy(exchange);
    const id = idIn(given.file);
    const asked = {
      ...{ ...sent, endpoint, uploads, inlineFiles },
      identity: id === undefined ? identity : { [way]: id, body: fields },
    };
    const created = await createFrom(deps.createTask, asked, async () => {
      const source = await findSource(deps, exchange, given.file);
      const { task } = source;
      const { model, field } = modelFor(deps, exchange, { way, named: fields.model ?? task?.model });
      const { body, names } = bodyFor(deps, model, given, adding(way, field, source));
      words = names;
      return {
        ...{ kind: "video", body },
        hops: mostHops(sent.hops, task?.request.hops),
        parent: task && { id: task.id, relation: RELATIONS[way] },
      };
    });
    return await answer(deps, created, fields.size);
  } catch (error) {
    throw inWords(words, error);
  } finally {
    await release?.();
  }
}

/** The id of the video that a field names, if it names one. */
function idIn(file: GivenFile | undefined): string | undefined {
  const value = file?.value;
  return isJsonObject(value) && typeof value.id === "string" ? value.id : undefined;
}

/** @throws AppError for a field that names no video, and for a video that is not there or not made yet */
async function findSource(
  deps: Pick<Deps, "tasks">,
  { principal, origin }: KeyedExchange,
  file: GivenFile | undefined,
): Promise<Source> {
  if (file === undefined) throw invalid({ kind: "required", field: SOURCE });
  const { param, value } = file;
  if (typeof value === "string") return { param, address: value };
  const id = idIn(file);
  if (id === undefined) {
    const rule = 'be a file, its URL, or {"id": …} of a video of this account';
    throw mustBe(SOURCE, { rule }, { json: value });
  }
  const { task } = await findOwnStory(deps, principal, id);
  if (task.kind !== "video") throw noVideo();
  return { param: `${SOURCE}.id`, address: origin + pathOfResult(task), task };
}

/** @throws AppError naming `model`, and models that can do this, if the model cannot */
function modelFor(
  deps: ModelDeps,
  exchange: KeyedExchange,
  { way, named }: { way: Way; named: Json | undefined },
): { readonly model: Model; readonly field: MediaField } {
  const model = videoModel(deps, exchange, named);
  const field = fieldFor(model, way);
  if (field !== undefined) return { model, field };
  const others = listModels(deps, exchange.principal).filter(({ kind }) => kind === "video");
  throw unable(
    others.filter((each) => fieldFor(each, way) !== undefined),
    way,
    model.id,
  );
}

/** The field of a model for the video that it changes or continues; undefined if it does not do that. */
function fieldFor(model: Model, way: Way): MediaField | undefined {
  const can = way === "edit" ? propertyOf(model, "prompt") : model.followUps?.extend;
  return can === undefined ? undefined : sourceField(model.mediaFields, "extend", "video");
}

/** Gives the model the video, and what asks it to continue one. */
const adding =
  (way: Way, field: MediaField, source: Source): AddFile =>
  (model, _, body, names) => {
    const asking = (way === "extend" && model.followUps?.extend) || {};
    for (const [name, value] of Object.entries(asking)) body[name] ??= value;
    giveFile(model, field, source, body, names);
  };

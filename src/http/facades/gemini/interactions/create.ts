import { invalid } from "../../../../domain/errors.ts";
import type { JsonObject } from "../../../../domain/json.ts";
import type { Model } from "../../../../domain/model/model.ts";
import { summaryOfNew } from "../../../../domain/task/task.ts";
import { fromCompat } from "../../../../service/compat-request.ts";
import { createFrom } from "../../../../service/create-from.ts";
import { accepted } from "../../../accepted.ts";
import type { KeyedExchange } from "../../../exchange.ts";
import type { JsonBody } from "../../../read-json.ts";
import type { Reply } from "../../../reply.ts";
import { inWords, requireFeature, requireKind, sentBy } from "../../create.ts";
import { type CallDeps, makeWaiting, type PictureMethod } from "../call.ts";
import type { FilmCallDeps } from "../films-call.ts";
import type { MediaContext } from "../media.ts";
import { textOf } from "../members.ts";
import { modelNamed, type NamedModel } from "../model-names.ts";
import { readGivenBody } from "../read-body.ts";
import { type AnswersDeps, createAnswers } from "./answers.ts";
import { presentHead } from "./present.ts";
import { readPictures, readVideo } from "./request.ts";
import { type AskedAnswer, readAskedAnswer, refuseAgents } from "./settings.ts";

export type InteractionDeps = CallDeps & FilmCallDeps & AnswersDeps;

const VERB = "interactions";

/** Makes what an interaction asks for: pictures while the caller waits, all else in the background. */
export async function createInteraction(deps: InteractionDeps, exchange: KeyedExchange): Promise<Reply> {
  const given = await readGivenBody(deps, exchange);
  const { named, asked } = await orDiscard(given, () => {
    refuseAgents(given.body);
    const found = modelIn(deps, exchange, given.body);
    return { named: found, asked: readAskedAnswer(found.model, given.body) };
  });
  return asked.isBackground
    ? begin(deps, exchange, { named, given })
    : makePictures(deps, exchange, { named, given, asked });
}

/** Does something with a body, whose files go where that fails. */
async function orDiscard<T>({ discard }: JsonBody, work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    await discard?.();
    throw error;
  }
}

function modelIn(deps: InteractionDeps, { principal }: KeyedExchange, body: JsonObject): NamedModel {
  const given = textOf(body, "model");
  if (given === undefined) throw invalid({ kind: "required", field: "model" });
  const name = given.value.replace(/^models\//, "");
  return { name, model: modelNamed(deps, principal, name) };
}

interface Given {
  readonly named: NamedModel;
  readonly given: JsonBody;
}

async function makePictures(
  deps: InteractionDeps,
  exchange: KeyedExchange,
  { named, given, asked }: Given & { readonly asked: AskedAnswer },
): Promise<Reply> {
  await orDiscard(given, () => requireFeature(exchange.principal, "compat"));
  const { origin } = exchange;
  const method: PictureMethod = {
    verb: VERB,
    ratioName: "aspect_ratio",
    answers: createAnswers(deps, { ...asked, origin }),
    // It looks for an earlier interaction, which other methods do not.
    read: (_, context, asks) => readPictures(deps, context, asks),
  };
  return makeWaiting(deps, exchange, { named, given, method, form: asked.isStream ? "event" : "whole" });
}

/** Accepts a task, and answers with it as it stands. */
async function begin(
  deps: InteractionDeps,
  exchange: KeyedExchange,
  { named: { model, name }, given: { body, inlineFiles, discard } }: Given,
): Promise<Reply> {
  let words: readonly Names[] = [{}];
  try {
    requireKind(exchange.principal, model);
    const sent = sentBy(exchange);
    const { principal, origin } = sent;
    const asked = {
      ...sent,
      inlineFiles,
      identity: { ...body, model: name },
      endpoint: `POST /gemini ${VERB}`,
    };
    const created = await createFrom(deps.createOrJoin, asked, async () => {
      const read = await readAny(deps, { principal, origin, inlineFiles }, { model, body });
      words = read.names;
      return { kind: model.kind, body: read.body };
    });
    const { taskId: id } = created;
    // A request that was sent before may have ended meanwhile.
    const task = created.task === undefined ? await deps.tasks.summary(id) : summaryOfNew(created.task);
    const head = task === undefined ? { id, status: "in_progress" } : presentHead(task, true);
    const answer = JSON.stringify({ ...head, steps: [] });
    return accepted(created, { body: answer, log: { task: id, model: model.id }, own: { "X-Task-Id": id } });
  } catch (error) {
    throw words.reduce<unknown>((told, names) => inWords(names, told), error);
  } finally {
    await discard?.();
  }
}

type Names = Readonly<Record<string, string>>;

interface Read {
  readonly body: JsonObject;
  /** Names of fields: each of those before it, the last the caller's. */
  readonly names: readonly Names[];
}

/** The body for the model's own schema. */
async function readAny(
  deps: InteractionDeps,
  context: MediaContext,
  given: { readonly model: Model; readonly body: JsonObject },
): Promise<Read> {
  const { model } = given;
  if (model.kind === "video") {
    const { body, names } = await readVideo(deps, context, given);
    return { body, names: [names] };
  }
  const { request, names } = await readPictures(deps, context, given);
  try {
    const fitted = fromCompat({ model, routes: deps.catalog.routes(model) }, request);
    return { body: fitted.body, names: [fitted.names, names] };
  } catch (error) {
    throw inWords(names, error);
  }
}

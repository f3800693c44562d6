import { isJsonObject } from "../../../domain/json.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { UploadStore } from "../../../domain/ports/upload-store.ts";
import { isTerminal } from "../../../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "../../../service/cancel-task.ts";
import type { CreateTask } from "../../../service/create-task.ts";
import { type ModelDeps, ofOtherKind } from "../../../service/read-model.ts";
import { readTask } from "../../../service/read-task.ts";
import { accepted } from "../../accepted.ts";
import { readJsonBody } from "../../body.ts";
import { openImages } from "../../compat/answer.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { base64Pieces, bodyInPieces } from "../../pieces.ts";
import { json, type Reply } from "../../reply.ts";
import { inWords, sentBy } from "../create.ts";
import { readFilm } from "./films.ts";
import { textOf } from "./members.ts";
import { askedFor } from "./model-names.ts";
import { costOf, filteredOf, operationName, operationText, presentOperation } from "./operation.ts";
import { readGivenBody } from "./read-body.ts";

export interface FilmCallDeps extends ModelDeps, CancelTaskDeps {
  readonly tasks: TaskStore;
  readonly assets: AssetStore;
  readonly uploads: Pick<UploadStore, "byId">;
  /** Joins a task that a caller left before its answer: clients send that request again by themselves. */
  readonly createOrJoin: CreateTask;
}

/** Accepts a film, and answers with its operation. */
export async function beginFilm(deps: FilmCallDeps, exchange: KeyedExchange): Promise<Reply> {
  const { body, inlineFiles, discard } = await readGivenBody(deps, exchange);
  let words: Readonly<Record<string, string>> = {};
  try {
    const { model, name } = askedFor(deps, exchange);
    const sent = sentBy(exchange);
    if (model.kind !== "video") throw ofOtherKind("model_not_found", model);
    const { principal, origin } = sent;
    const reading = readFilm(deps, { principal, origin, inlineFiles }, { model, body });
    const read = reading instanceof Promise ? await reading : reading;
    words = read.names;
    const created = await deps.createOrJoin({
      ...sent,
      kind: "video",
      body: read.body,
      inlineFiles,
      endpoint: "POST /gemini predictLongRunning",
      identity: { ...body, model: name },
    });
    const task = { id: created.taskId, model: model.id };
    const log = { task: task.id, model: task.model };
    // Ids are of letters, digits, dots, hyphens and underscores, so that they need no quoting.
    return accepted(created, { body: `{"name":"${operationName(task)}"}`, log });
  } catch (error) {
    throw inWords(words, error);
  } finally {
    // An await would cost a turn of the event loop, and most bodies have no files.
    if (discard !== undefined) await discard();
  }
}

/** Answers with a task as an operation, whichever API it came by. */
export async function readOperation(
  deps: FilmCallDeps,
  { principal, param, origin }: KeyedExchange,
): Promise<Reply> {
  const task = await readTask(deps, principal, param("operation"));
  return {
    status: 200,
    headers: { "Content-Type": "application/json", "X-Request-Cost": costOf(task) },
    body: operationText(task, origin),
  };
}

/** Cancels a task. One that is under way may end later. */
export async function cancelOperation(
  deps: FilmCallDeps,
  { principal, param }: KeyedExchange,
): Promise<Reply> {
  const task = await cancelTask(deps, principal, param("operation"));
  return json({}, { "X-Request-Cost": costOf(task) }, { task: task.id });
}

/** The same operation as clients of the enterprise edition read it: with the films themselves. */
export async function fetchOperation(deps: FilmCallDeps, exchange: KeyedExchange): Promise<Reply> {
  const { body } = await readJsonBody(exchange);
  const id = textOf(body, "operationName")?.value.split("/").at(-1) ?? "";
  const task = await readTask(deps, exchange.principal, id);
  const headers = { "Content-Type": "application/json", "X-Request-Cost": costOf(task) };
  const told = presentOperation(task, () => filteredOf(task));
  if (!isTerminal(task.status) || !isJsonObject(told.response)) return json(told, headers);
  const made = await openImages(deps, task);
  const contents = made.map(({ content }) => content);
  const { response, ...rest } = told;
  const pieces = withFilms(JSON.stringify(rest), made, JSON.stringify(response));
  const { body: answer, over } = await bodyInPieces(pieces, contents, () => {});
  return { status: 200, headers, body: answer, over, log: { task: task.id } };
}

type Made = Awaited<ReturnType<typeof openImages>>;

async function* withFilms(told: string, made: Made, response: string): AsyncGenerator<string> {
  let before = `${told.slice(0, -1)},"response":{"videos":[`;
  for (const { asset, content } of made) {
    yield `${before}{"mimeType":"${asset.type}","bytesBase64Encoded":"`;
    yield* base64Pieces(content);
    yield '"}';
    before = ",";
  }
  const rest = response === "{}" ? "}}" : `,${response.slice(1)}}`;
  yield `${before === "," ? "" : before}]${rest}`;
}

import type { Principal } from "../../../domain/access/account.ts";
import { AppError } from "../../../domain/errors.ts";
import type { KeyId } from "../../../domain/ids.ts";
import { isJsonObject, type JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import type { Random } from "../../../domain/ports/runtime.ts";
import type { Uploads } from "../../../service/collect-inputs.ts";
import type { GenerateSync } from "../../../service/generate-sync.ts";
import type { InlineFiles } from "../../../service/inline-files.ts";
import type { JoinedTask, JoinTask } from "../../../service/join-task.ts";
import { readJsonBody } from "../../body.ts";
import type { AnswerDeps } from "../../compat/answer.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { Reply } from "../../reply.ts";
import { whileStaying } from "../../stays.ts";
import {
  acceptStaying,
  answerInTime,
  finishInTime,
  standingFor,
  type WaitingDeps,
  waitOf,
} from "../../waiting.ts";
import { check } from "../../wire/check.ts";
import { inOtherWords, sentBy } from "../create.ts";
import { type Asked, interruptedReply, picturesReply } from "./answer.ts";
import type { Calls } from "./calls.ts";
import {
  CHECKPOINT,
  type CheckpointDeps,
  chooseCheckpoint,
  currentModel,
  findCheckpoint,
  requireImageModel,
} from "./checkpoints.ts";
import { IMG2IMG, lenient, repeated, TXT2IMG } from "./fields.ts";
import { BASE } from "./manners.ts";
import { NO_PICTURES, picturesOf } from "./pictures.ts";
import { translate } from "./translate.ts";

export interface DrawDeps extends CheckpointDeps, AnswerDeps, WaitingDeps {
  readonly clock: CheckpointDeps["clock"] & WaitingDeps["clock"];
  readonly generateSync: GenerateSync;
  readonly random: Random;
}

interface Deps extends DrawDeps {
  readonly calls: Calls;
  readonly joinTask: JoinTask;
}

/** A call that was read: what to make, and what its answer tells. */
interface Call {
  readonly model: Model;
  readonly body: JsonObject;
  readonly identity: JsonObject;
  readonly uploads: () => Promise<Uploads>;
  readonly inlineFiles?: InlineFiles | undefined;
  /** See Translated. */
  readonly names: Readonly<Record<string, string>>;
  readonly asked: Asked;
  release(): Promise<void>;
}

/** What callers know our fields by. */
const NAMES = { model: CHECKPOINT };

/** POST /sdapi/v1/txt2img and img2img. The answer comes once the pictures are made, as from that server. */
export async function draw(deps: Deps, exchange: KeyedExchange, job: "txt2img" | "img2img"): Promise<Reply> {
  const { leave, accepted } = await inOtherWords(NAMES, async () => {
    const call = await readCall(deps, exchange, job);
    return acceptStaying(exchange, "waits", call, () => accept(deps, exchange, job, call));
  });
  return whileStaying(leave, () => finish(deps, exchange, accepted));
}

async function readCall(deps: Deps, exchange: KeyedExchange, job: "txt2img" | "img2img"): Promise<Call> {
  const { principal } = exchange;
  const receive = () => deps.assets.receive();
  const json = await readJsonBody(exchange, { receive, takesBare: true });
  const discard = async () => json.discard?.();
  try {
    const schema = job === "txt2img" ? TXT2IMG : IMG2IMG;
    const body = lenient(schema, json.body);
    check(schema, body);
    const { model, title } = await modelOf(deps, principal, body);
    requireImageModel(model);
    const offered = { model, routes: deps.catalog.routes(model) };
    const given = { body, files: json.inlineFiles, owner: principal.accountId };
    const pictures = job === "txt2img" ? NO_PICTURES : picturesOf(deps, given);
    const newSeed = (most: number) => Math.floor(deps.random() * (most + 1));
    const { names, taken, ignored, fitted, ...read } = translate(
      deps.catalog,
      offered,
      body,
      pictures,
      newSeed,
    );
    const parameters = repeated(schema, body);
    const asked: Asked = { body: withoutPictures(body), parameters, model: title, taken, ignored, fitted };
    return {
      ...{ model, body: read.body, names, asked },
      ...{ uploads: pictures.uploads, inlineFiles: json.inlineFiles },
      identity: { model: model.id, ...identityOf(body) },
      release: async () => void (await Promise.all([pictures.release(), discard()])),
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** The name of a call says nothing of what is drawn: a client that sends it again may call it something else. */
function identityOf({ force_task_id: _name, url: _url, auth: _auth, ...body }: JsonObject): JsonObject {
  return body;
}

function withoutPictures({ init_images: _images, mask: _mask, ...body }: JsonObject): JsonObject {
  return body;
}

/** The model that a request names among its settings, else that of the key. */
async function modelOf(deps: Deps, principal: Principal, { override_settings: settings }: JsonObject) {
  const named = isJsonObject(settings) ? settings[CHECKPOINT] : undefined;
  if (named === undefined || named === null || named === "") return currentModel(deps, principal);
  const model = findCheckpoint(deps, principal, named);
  return { model, title: model.id };
}

type Accepted = Awaited<ReturnType<typeof accept>>;

async function accept(deps: Deps, exchange: KeyedExchange, job: "txt2img" | "img2img", call: Call) {
  const { asked, release: _release, ...joining } = call;
  const { principal } = exchange;
  const accepted = await deps.joinTask({
    ...{ ...sentBy(exchange), ...joining, kind: call.model.kind, hasPaintedMasks: true },
    endpoint: `POST ${BASE}/${job}`,
  });
  const { force_task_id: name, steps, n_iter: times, override_settings: settings } = asked.body;
  deps.calls.begin(principal.keyId, {
    ...{ taskId: accepted.taskId, job, name: typeof name === "string" ? name : undefined },
    ...{ steps: Number(steps ?? 1), times: Number(times ?? 1) },
  });
  // What a request is to leave as it set it.
  const title = isJsonObject(settings) ? settings[CHECKPOINT] : undefined;
  if (asked.body.override_settings_restore_afterwards === false && typeof title === "string" && title !== "")
    await chooseCheckpoint(deps, principal, title);
  return { accepted, asked };
}

async function finish(deps: Deps, exchange: KeyedExchange, { accepted, asked }: Accepted): Promise<Reply> {
  const { waitMs, headers } = waitOf(deps, exchange);
  if (accepted.replayed) headers["X-Idempotent-Replay"] = "true";
  const standing = standingFor(exchange, accepted);
  try {
    const task = await endOf(deps, exchange.principal.keyId, accepted, () =>
      finishInTime(deps, exchange, accepted, { waitMs, standing }),
    );
    const isJoined = accepted.held === undefined;
    const answering = { asked, isJoined, headers, leave: accepted.leave };
    return await answerInTime(deps, exchange, accepted, () => picturesReply(deps, task, answering));
  } catch (error) {
    if (!(error instanceof AppError) || error.facts.kind !== "task_cancelled") throw error;
    return interruptedReply(accepted.taskId, asked, headers);
  }
}

/** Follows a call to its end. One that goes on without its caller stays among those that run. */
export async function endOf<T>(
  { calls }: { readonly calls: Calls },
  key: KeyId,
  { taskId }: Pick<JoinedTask, "taskId">,
  finishing: () => Promise<T>,
): Promise<T> {
  try {
    const task = await finishing();
    calls.end(key, taskId, true);
    return task;
  } catch (error) {
    const isOver = error instanceof AppError && ["task_cancelled", "task_failed"].includes(error.facts.kind);
    if (isOver) calls.end(key, taskId, false);
    throw error;
  }
}

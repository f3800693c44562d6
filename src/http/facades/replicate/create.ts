import { type AtHand, whenAtHand } from "../../../domain/at-hand.ts";
import { invalid } from "../../../domain/errors.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import { formatAmount } from "../../../domain/money/money.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import { isTerminal, type TaskSummary } from "../../../domain/task/task.ts";
import type { CancelLater } from "../../../service/cancel-later.ts";
import type { CreateTask } from "../../../service/create-task.ts";
import type { JoinedTask, JoiningRequest, JoinTask } from "../../../service/join-task.ts";
import type { ReadTaskDeps } from "../../../service/read-task.ts";
import { accepted } from "../../accepted.ts";
import { readJsonBody } from "../../body.ts";
import type { KeyedExchange, LateAnswerDeps } from "../../exchange.ts";
import type { JsonBody } from "../../read-json.ts";
import type { Reply } from "../../reply.ts";
import { whileAllowed } from "../../standing.ts";
import { inWords, requireKind, sentBy } from "../create.ts";
import { fromForeign } from "../foreign-input.ts";
import type { AskedModel } from "../models.ts";
import { withFileIds } from "./files.ts";
import { BASE, INPUT } from "./manners.ts";
import {
  type PredictionDeps,
  presentNewPrediction,
  type TellPrediction,
  untoldPrediction,
} from "./present.ts";
import { cancelAfterIn, type PredictionBody, predictionIn, waitIn } from "./read-request.ts";
import { namedModel, referredModel, type VersionDeps } from "./versions.ts";
import { callbackFor } from "./webhook.ts";

export interface CreateDeps
  extends Pick<PredictionDeps, "streamPath">,
    VersionDeps,
    Pick<ReadTaskDeps, "tasks" | "clock">,
    LateAnswerDeps {
  readonly joinTask: JoinTask;
  /** For creates whose caller does not wait. */
  readonly createOrJoin: CreateTask;
  readonly assets: Pick<AssetStore, "receive">;
  readonly cancelLater: Pick<CancelLater, "plan">;
  readonly tell: TellPrediction;
  /** Where this service is reached, when it is set. */
  readonly publicUrl?: string | undefined;
}

/** The scope of idempotency keys, whichever path names the model. */
const ENDPOINT = `POST ${BASE}/predictions`;

/**
 * Creates a prediction, and where the caller prefers that, waits for it. When a caller leaves before it is answered and the same request
 * comes again without an idempotency key, as clients of that API send it by themselves, it joins the task instead of making another.
 * @param name `owner/name` of the path; absent where the body names the model
 */
export function createPrediction(deps: CreateDeps, exchange: KeyedExchange, name?: string): Promise<Reply> {
  const waitMs = waitIn(exchange.request);
  return waitMs === undefined ? createNow(deps, exchange, name) : createAndWait(deps, exchange, name, waitMs);
}

async function createNow(deps: CreateDeps, exchange: KeyedExchange, name?: string): Promise<Reply> {
  const given = await readJsonBody(exchange, deps.assets);
  let words: JoiningRequest["names"] = {};
  try {
    const joining = translate(deps, exchange, given, name);
    words = joining.names;
    // If the caller never receives the answer, its next equal request joins the task.
    const created = await deps.createOrJoin(joining);
    const reply = toldNow(deps, exchange, joining, created);
    return reply instanceof Promise ? await reply : reply;
  } catch (error) {
    throw inWords(words, error);
  } finally {
    // An await would cost a turn of the event loop, and most bodies have no files.
    if (given.discard !== undefined) await given.discard();
  }
}

/** Answers with a prediction that was accepted, and plans its end where the caller has set one. */
function toldNow(
  deps: CreateDeps,
  exchange: KeyedExchange,
  joining: JoiningRequest,
  created: Accepted,
): AtHand<Reply> {
  planCancel(deps, joining, created);
  const { task } = created;
  if (task === undefined)
    return begun(deps, created).then((found) =>
      replyWith(deps, exchange, { task: found, created, hasWaited: false }),
    );
  const { held } = task;
  return whenAtHand(presentNewPrediction(deps, task, exchange.origin), (body) =>
    accepted({ held, replayed: false }, { status: CREATED, body, log: logOf(task) }),
  );
}

async function createAndWait(
  deps: CreateDeps,
  exchange: KeyedExchange,
  name: string | undefined,
  waitMs: number,
): Promise<Reply> {
  const leave = exchange.stay("waits");
  try {
    const joined = await acceptWaiting(deps, exchange, name);
    const task = await ended(deps, exchange, joined, waitMs);
    return await replyWith(deps, exchange, { task, created: joined, hasWaited: true });
  } finally {
    leave();
  }
}

async function acceptWaiting(deps: CreateDeps, exchange: KeyedExchange, name?: string): Promise<JoinedTask> {
  const given = await readJsonBody(exchange, deps.assets);
  try {
    const joining = translate(deps, exchange, given, name);
    const joined = await deps.joinTask(joining);
    planCancel(deps, joining, joined);
    return joined;
  } catch (error) {
    throw inWords({}, error);
  } finally {
    await given.discard?.();
  }
}

/** One that was created before has been planned for then. */
function planCancel(
  deps: CreateDeps,
  { cancelAt, principal }: JoiningRequest,
  { taskId, task }: Accepted,
): void {
  if (cancelAt !== undefined && task !== undefined)
    deps.cancelLater.plan({ id: taskId, accountId: principal.accountId }, cancelAt);
}

/** A create that was accepted, or has joined a task. */
type Accepted = Pick<JoinedTask, "taskId" | "replayed" | "task">;

function translate(
  deps: CreateDeps,
  exchange: KeyedExchange,
  { body: sent, inlineFiles }: JsonBody,
  name: string | undefined,
): JoiningRequest {
  const lifeMs = cancelAfterIn(exchange.request);
  const read = predictionIn(sent);
  const { model, route } = modelFor(deps, exchange, read, name);
  requireKind(exchange.principal, model);
  const fields = withoutAddresses(read.input, deps.publicUrl, exchange.origin);
  const { body, names, resultType } = fromForeign(deps.catalog, model, { fields, at: INPUT, route });
  names.callback_url = "webhook";
  return {
    ...sentBy(exchange),
    kind: model.kind,
    model,
    names,
    body,
    resultType,
    endpoint: ENDPOINT,
    inlineFiles,
    identity: { ...sent, version: model.id },
    hasPaintedMasks: true,
    cancelAt: lifeMs === undefined ? undefined : deps.clock.now() + lifeMs,
    callback: read.webhook === undefined ? undefined : callbackFor(read.webhook, read.events),
  };
}

/** Files that were uploaded here, by their ids. */
function withoutAddresses(input: JsonObject, ...origins: readonly (string | undefined)[]): JsonObject {
  // Most have none, and a copy takes longer than to look.
  if (!hasOurs(input, origins)) return input;
  const fields = Object.entries(input).map(
    ([name, value]) => [name, value === undefined ? value : withFileIds(value, origins)] as const,
  );
  return Object.fromEntries(fields);
}

function hasOurs(input: JsonObject, origins: readonly (string | undefined)[]): boolean {
  for (const name of Object.keys(input)) if (isOurs(input[name], origins)) return true;
  return false;
}

function isOurs(value: Json | undefined, origins: readonly (string | undefined)[]): boolean {
  if (typeof value !== "string") return Array.isArray(value);
  return (
    value.startsWith("http") && origins.some((origin) => origin !== undefined && value.startsWith(origin))
  );
}

function modelFor(
  deps: CreateDeps,
  { principal }: KeyedExchange,
  { reference }: PredictionBody,
  name?: string,
): AskedModel {
  if (name !== undefined) return namedModel(deps, principal, name);
  if (reference === undefined) throw invalid({ kind: "required", field: "version" });
  return referredModel(deps, principal, reference.text, reference.field);
}

/** One that was accepted before, as it stands. */
async function begun({ tasks }: CreateDeps, { taskId }: Accepted): Promise<TaskSummary> {
  const task = await tasks.summary(taskId);
  // The first answer to this key may have been for a task that was deleted since.
  if (task === undefined) throw untoldPrediction();
  return task;
}

/** Waits for the task's end, as long as the caller wants and the address allows. */
function ended(
  deps: CreateDeps,
  exchange: KeyedExchange,
  joined: JoinedTask,
  askedMs: number,
): Promise<TaskSummary> {
  const { request, standing, edgeDeadline } = exchange;
  deps.keepOpen(request);
  const leftMs = (edgeDeadline() ?? Number.POSITIVE_INFINITY) - deps.elapsed();
  const waitMs = Math.max(0, Math.min(askedMs, leftMs));
  return whileAllowed(standing, (refused) => {
    const signal = AbortSignal.any([request.signal, deps.stopping, refused]);
    return joined.wait({ waitMs, signal, gone: request.signal });
  });
}

const CREATED = 201;
const GOING_ON = 202;

function replyWith(
  deps: CreateDeps,
  { origin }: KeyedExchange,
  {
    task,
    created,
    hasWaited,
  }: { readonly task: TaskSummary; readonly created: Accepted; readonly hasWaited: boolean },
): AtHand<Reply> {
  const isLate = hasWaited && !isTerminal(task.status);
  // Clients that waited take every other status for the end, and go on to ask after `starting` alone.
  const shown: TaskSummary = isLate ? { ...task, status: "pending" } : task;
  return whenAtHand(deps.tell(shown, origin), (told) => {
    if (told === undefined) throw untoldPrediction();
    const status = isLate ? GOING_ON : CREATED;
    return { status, headers: headersOf(task, created), body: told.text, log: logOf(task) };
  });
}

const logOf = ({ id: task, model }: Pick<TaskSummary, "id" | "model">) => ({ task, model });

function headersOf(
  { charged, held }: Pick<TaskSummary, "charged" | "held">,
  { replayed }: Accepted,
): Record<string, string> {
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "X-Request-Cost": formatAmount(charged ?? held),
  };
  if (replayed) headers["X-Idempotent-Replay"] = "true";
  return headers;
}

import { type AtHand, whenAtHand } from "../../../domain/at-hand.ts";
import { invalid } from "../../../domain/errors.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import { formatAmount } from "../../../domain/money/money.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import { isTerminal, summaryOfNew, type TaskSummary } from "../../../domain/task/task.ts";
import type { CancelLater } from "../../../service/cancel-later.ts";
import type { JoinedTask, JoiningRequest, JoinTask } from "../../../service/join-task.ts";
import type { ReadTaskDeps } from "../../../service/read-task.ts";
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
import { type TellPrediction, untoldPrediction } from "./present.ts";
import { cancelAfterIn, type PredictionBody, predictionIn, waitIn } from "./read-request.ts";
import { namedModel, referredModel, type VersionDeps } from "./versions.ts";
import { callbackFor } from "./webhook.ts";

export interface CreateDeps extends VersionDeps, Pick<ReadTaskDeps, "tasks" | "clock">, LateAnswerDeps {
  readonly joinTask: JoinTask;
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
export async function createPrediction(
  deps: CreateDeps,
  exchange: KeyedExchange,
  name?: string,
): Promise<Reply> {
  const waitMs = waitIn(exchange.request);
  const leave = waitMs === undefined ? undefined : exchange.stay("waits");
  try {
    const joined = await accept(deps, exchange, { name, isWaiting: waitMs !== undefined });
    const task =
      waitMs === undefined
        ? (begunNow(joined) ?? (await begun(deps, joined)))
        : await ended(deps, exchange, joined, waitMs);
    // The next equal request of whoever never hears of it joins its task. Of one that waited, the wait has noted it.
    if (waitMs === undefined && exchange.request.signal.aborted) joined.leave();
    const answered = replyWith(deps, exchange, { task, joined, hasWaited: waitMs !== undefined });
    return answered instanceof Promise ? await answered : answered;
  } finally {
    leave?.();
  }
}

async function accept(
  deps: CreateDeps,
  exchange: KeyedExchange,
  { name, isWaiting }: { readonly name: string | undefined; readonly isWaiting: boolean },
): Promise<JoinedTask> {
  const given = await readJsonBody(exchange, deps.assets);
  try {
    const joining = translate(deps, exchange, given, { name, isWaiting });
    const joined = await deps.joinTask(joining);
    const { cancelAt, principal } = joining;
    // One that was created before has been planned for then.
    if (cancelAt !== undefined && joined.task !== undefined)
      deps.cancelLater.plan({ id: joined.taskId, accountId: principal.accountId }, cancelAt);
    return joined;
  } catch (error) {
    throw inWords({}, error);
  } finally {
    // An await would cost a turn, and most bodies have no files.
    if (given.discard !== undefined) await given.discard();
  }
}

function translate(
  deps: CreateDeps,
  exchange: KeyedExchange,
  { body: sent, inlineFiles }: JsonBody,
  { name, isWaiting }: { readonly name: string | undefined; readonly isWaiting: boolean },
): JoiningRequest {
  const lifeMs = cancelAfterIn(exchange.request);
  const read = predictionIn(sent);
  const { model, route } = modelFor(deps, exchange, read, name);
  requireKind(exchange.principal, model);
  const fields = withoutAddresses(read.input, deps.publicUrl, exchange.origin);
  const { body, names } = fromForeign(deps.catalog, model, { fields, at: INPUT, route });
  names.callback_url = "webhook";
  return {
    ...sentBy(exchange),
    ...{ kind: model.kind, model, names, body, endpoint: ENDPOINT, inlineFiles, isWaiting },
    identity: { ...sent, version: model.id },
    hasPaintedMasks: true,
    cancelAt: lifeMs === undefined ? undefined : deps.clock.now() + lifeMs,
    callback: read.webhook === undefined ? undefined : callbackFor(read.webhook, read.events),
  };
}

/** Files that were uploaded here, by their ids. */
function withoutAddresses(input: JsonObject, ...origins: readonly (string | undefined)[]): JsonObject {
  // Most have none, and a copy takes longer than to look.
  if (!Object.values(input).some((value) => isOurs(value, origins))) return input;
  const fields = Object.entries(input).map(
    ([name, value]) => [name, value === undefined ? value : withFileIds(value, origins)] as const,
  );
  return Object.fromEntries(fields);
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

/** The task as it was accepted; undefined for one that was before. */
function begunNow({ task }: JoinedTask): TaskSummary | undefined {
  return task && summaryOfNew(task);
}

/** One that was accepted before, as it stands. */
async function begun({ tasks }: CreateDeps, { taskId }: JoinedTask): Promise<TaskSummary> {
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
    joined,
    hasWaited,
  }: { readonly task: TaskSummary; readonly joined: JoinedTask; readonly hasWaited: boolean },
): AtHand<Reply> {
  return whenAtHand(deps.tell(task, origin, joined.task?.request), (told) => {
    if (told === undefined) throw untoldPrediction();
    const isLate = hasWaited && !isTerminal(task.status);
    const headers: Record<string, string> = {
      "Content-Type": "application/json",
      "X-Request-Cost": formatAmount(task.charged ?? task.held),
    };
    if (joined.replayed) headers["X-Idempotent-Replay"] = "true";
    return {
      status: isLate ? GOING_ON : CREATED,
      headers,
      // Clients that waited take every other status for the end, and go on to ask after this one alone.
      body: JSON.stringify(isLate ? { ...told, status: "starting" } : told),
      log: { task: task.id, model: task.model },
    };
  });
}

import { invalid } from "../../../domain/errors.ts";
import type { TaskId } from "../../../domain/ids.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import { formatAmount } from "../../../domain/money/money.ts";
import type { AssetStore } from "../../../domain/ports/asset-store.ts";
import type { Secrets } from "../../../domain/ports/runtime.ts";
import { isTerminal, type NewTask, summaryOfNew, type TaskSummary } from "../../../domain/task/task.ts";
import { adoptLeft } from "../../../service/adopt-left.ts";
import type { CancelLater } from "../../../service/cancel-later.ts";
import type { CreateTask, CreateTaskRequest } from "../../../service/create-task.ts";
import { hashCanonical, type InlineFiles } from "../../../service/inline-files.ts";
import type { Orphans } from "../../../service/orphans.ts";
import { awaitTask, type ReadTaskDeps } from "../../../service/read-task.ts";
import { readJsonBody } from "../../body.ts";
import type { KeyedExchange, LateAnswerDeps } from "../../exchange.ts";
import type { Reply } from "../../reply.ts";
import { whileAllowed } from "../../standing.ts";
import { createdHeaders, inOtherWords, requireKind, sentBy } from "../create.ts";
import { fromForeign } from "../foreign-input.ts";
import type { AskedModel } from "../models.ts";
import type { EqualCalls } from "./equal-calls.ts";
import { withFileIds } from "./files.ts";
import { BASE, INPUT } from "./manners.ts";
import { type TellPrediction, untoldPrediction } from "./present.ts";
import { cancelAfterIn, type PredictionBody, predictionIn, waitIn } from "./read-request.ts";
import { namedModel, referredModel, type VersionDeps } from "./versions.ts";
import { callbackFor } from "./webhook.ts";

export interface CreateDeps extends VersionDeps, ReadTaskDeps, LateAnswerDeps {
  readonly createTask: CreateTask;
  readonly orphans: Orphans;
  readonly assets: Pick<AssetStore, "receive">;
  readonly secrets: Pick<Secrets, "hash" | "hashPieces">;
  readonly cancelLater: Pick<CancelLater, "plan">;
  readonly tell: TellPrediction;
  readonly equalCalls: EqualCalls;
  /** Where this service is reached, when it is set. */
  readonly publicUrl?: string | undefined;
}

/** The scope of idempotency keys, whichever path names the model. */
const ENDPOINT = `POST ${BASE}/predictions`;

/** A create as it was sent, in the model's own words. */
interface Sent {
  readonly model: Model;
  readonly request: CreateTaskRequest;
  /** By our name of a field, the caller's. */
  readonly names: Readonly<Record<string, string>>;
}

/** A prediction that is accepted, or joined. */
interface Accepted {
  readonly taskId: TaskId;
  readonly headers: Readonly<Record<string, string>>;
  /** Equal for equal requests without an idempotency key. Absent where nobody has asked for it yet. */
  readonly scope?: string | undefined;
  /** The same, for a caller who turns out to have left. */
  readonly lateScope?: (() => string | Promise<string> | undefined) | undefined;
  /** What was stored, of a task that is new. */
  readonly task?: NewTask | undefined;
}

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
    const accepted = await accept(deps, exchange, { name, isWaiting: waitMs !== undefined });
    const task =
      waitMs === undefined
        ? (begunNow(accepted) ?? (await begun(deps, accepted)))
        : await ended(deps, exchange, accepted, waitMs);
    if (waitMs === undefined && exchange.request.signal.aborted) await noteLeft(deps, accepted);
    return await replyWith(deps, exchange, { task, accepted, hasWaited: waitMs !== undefined });
  } finally {
    leave?.();
  }
}

async function accept(
  deps: CreateDeps,
  exchange: KeyedExchange,
  { name, isWaiting }: { readonly name: string | undefined; readonly isWaiting: boolean },
): Promise<Accepted> {
  const { body, inlineFiles, discard } = await readJsonBody(exchange, deps.assets);
  try {
    const sent = translate(deps, exchange, { body, inlineFiles, name });
    // Most creates need none: nobody waits, and nobody has left.
    const isJoinable = isWaiting || !deps.orphans.isEmpty() || deps.equalCalls.areAny();
    const scope = isJoinable ? await scopeOf(deps, sent.request) : undefined;
    if (scope !== undefined) await deps.equalCalls.settled(scope);
    const joined = scope === undefined ? undefined : await adoptLeft(deps, scope);
    if (joined !== undefined) return { taskId: joined, headers: {}, scope };
    const request = isWaiting ? { ...sent.request, syncScope: scope } : sent.request;
    const created = await inOtherWords(sent.names, () => deps.createTask(request));
    const { taskId } = created;
    const { cancelAt, principal } = request;
    if (cancelAt !== undefined && !created.replayed)
      deps.cancelLater.plan({ id: taskId, accountId: principal.accountId }, cancelAt);
    // What a body's files held is gone later.
    const lateScope = inlineFiles === undefined ? () => scopeOf(deps, sent.request) : undefined;
    return { taskId, headers: createdHeaders(created), scope, lateScope, task: created.task };
  } finally {
    // An await would cost a turn, and most bodies have no files.
    if (discard !== undefined) await discard();
  }
}

function translate(
  deps: CreateDeps,
  exchange: KeyedExchange,
  given: {
    readonly body: JsonObject;
    readonly inlineFiles: InlineFiles | undefined;
    readonly name?: string | undefined;
  },
): Sent {
  const sent = sentBy(exchange);
  const lifeMs = cancelAfterIn(exchange.request);
  const read = predictionIn(given.body);
  const { model, route } = modelFor(deps, exchange, read, given.name);
  requireKind(exchange.principal, model);
  const fields = withoutAddresses(read.input, [deps.publicUrl, exchange.origin]);
  const { body, names } = fromForeign(deps.catalog, model, { fields, at: INPUT, route });
  names.callback_url = "webhook";
  const request: CreateTaskRequest = {
    ...sent,
    kind: model.kind,
    body,
    endpoint: ENDPOINT,
    inlineFiles: given.inlineFiles,
    identity: { ...given.body, version: model.id },
    cancelAt: lifeMs === undefined ? undefined : deps.clock.now() + lifeMs,
    callback: read.webhook === undefined ? undefined : callbackFor(read.webhook, read.events),
  };
  return { model, request, names };
}

/** Files that were uploaded here, by their ids. */
function withoutAddresses(input: JsonObject, origins: readonly (string | undefined)[]): JsonObject {
  // Most have none, and a copy takes longer than to look.
  if (!Object.values(input).some((value) => isOurs(value, origins))) return input;
  const fields = Object.entries(input).map(
    ([name, value]) => [name, value === undefined ? value : withFileIds(value, origins)] as const,
  );
  return Object.fromEntries(fields);
}

function isOurs(value: Json | undefined, origins: readonly (string | undefined)[]): boolean {
  if (typeof value !== "string") return Array.isArray(value);
  return origins.some((origin) => origin !== undefined && value.startsWith(origin));
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

/** An idempotency key already says which requests are the same. */
function scopeOf(
  { secrets }: Pick<CreateDeps, "secrets">,
  { idempotencyKey, principal, identity = {}, inlineFiles: files }: CreateTaskRequest,
): string | Promise<string> | undefined {
  if (idempotencyKey !== undefined) return undefined;
  return hashCanonical(secrets, { before: `${principal.keyId}\n${ENDPOINT}\n`, value: identity, files });
}

/** The task as it was accepted; undefined for one that was before. */
function begunNow({ task }: Accepted): TaskSummary | undefined {
  return task && summaryOfNew(task);
}

/** The same; one that was accepted before, as it stands. */
async function begun({ tasks }: CreateDeps, accepted: Accepted): Promise<TaskSummary> {
  const task = begunNow(accepted) ?? (await tasks.summary(accepted.taskId));
  // The first answer to this key may have been for a task that was deleted since.
  if (task === undefined) throw untoldPrediction();
  return task;
}

/** Waits for the task's end, as long as the caller wants and the address allows. */
async function ended(
  deps: CreateDeps,
  exchange: KeyedExchange,
  accepted: Accepted,
  askedMs: number,
): Promise<TaskSummary> {
  const { request, principal, standing, edgeDeadline } = exchange;
  const { id, kind } = await begun(deps, accepted);
  const over = accepted.scope === undefined ? undefined : deps.equalCalls.enter(accepted.scope);
  deps.keepOpen(request);
  const leftMs = (edgeDeadline() ?? Number.POSITIVE_INFINITY) - deps.elapsed();
  const waitMs = Math.max(0, Math.min(askedMs, leftMs));
  try {
    return await whileAllowed(standing, (refused) => {
      const signal = AbortSignal.any([request.signal, deps.stopping, refused]);
      return awaitTask(deps, principal, { id, kind, waitMs, signal });
    });
  } finally {
    if (request.signal.aborted) await noteLeft(deps, accepted);
    over?.();
  }
}

/** The caller is gone before it was answered: the next equal request joins its task. */
async function noteLeft(
  { orphans, clock }: CreateDeps,
  { taskId, scope, lateScope }: Accepted,
): Promise<void> {
  const known = scope ?? (await lateScope?.());
  if (known !== undefined) orphans.add(known, taskId, clock.elapsed());
}

const CREATED = 201;
const GOING_ON = 202;

async function replyWith(
  deps: CreateDeps,
  { origin }: KeyedExchange,
  {
    task,
    accepted,
    hasWaited,
  }: { readonly task: TaskSummary; readonly accepted: Accepted; readonly hasWaited: boolean },
): Promise<Reply> {
  const told = await deps.tell(task, origin, accepted.task?.request);
  if (told === undefined) throw untoldPrediction();
  const isLate = hasWaited && !isTerminal(task.status);
  // Clients that waited take every other status for the end, and go on to ask after this one alone.
  const body = isLate ? { ...told, status: "starting" } : told;
  const cost = { "X-Request-Cost": formatAmount(task.charged ?? task.held) };
  return {
    status: isLate ? GOING_ON : CREATED,
    headers: { "Content-Type": "application/json", ...accepted.headers, ...cost },
    body: JSON.stringify(body),
    log: { task: task.id, model: task.model },
  };
}

import type { Principal } from "../domain/access/account.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { TaskId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import { IDEMPOTENCY_RETENTION_MS, IN_PROGRESS_RETRY_SEC } from "../domain/limits.ts";
import type { Model } from "../domain/model/model.ts";
import type { Micros } from "../domain/money/money.ts";
import { isPriced, quote } from "../domain/money/pricing.ts";
import { quotaPeriod } from "../domain/money/quota.ts";
import type { StagedFile } from "../domain/ports/asset-store.ts";
import type { Routing } from "../domain/ports/routing.ts";
import type { Clock, Secrets, TaskFeed } from "../domain/ports/runtime.ts";
import type { Tally } from "../domain/ports/tally.ts";
import type { Admission, AdmitResult } from "../domain/ports/task-store.ts";
import type { Wakeup } from "../domain/ports/wakeup.ts";
import type { IdempotencyClaim } from "../domain/task/idempotency.ts";
import type { Parent } from "../domain/task/lineage.ts";
import type { GenerationRequest, TaskKind } from "../domain/task/request.ts";
import type { NewTask } from "../domain/task/task.ts";
import { type AskedCallback, callbackOf } from "./asked-callback.ts";
import type { InputDeps } from "./collect-inputs.ts";
import { type CostLimit, checkCost } from "./cost-limit.ts";
import { answer, type CreatedTask } from "./created-task.ts";
import { findRoute } from "./find-route.ts";
import { toGenerationRequest } from "./generation-request.ts";
import { checkIdempotencyKey } from "./idempotency-key.ts";
import { hashCanonical, type InlineFiles, refuseMisplacedFiles } from "./inline-files.ts";
import type { TellLowBalance } from "./low-balance.ts";
import type { Moderate, Moderated } from "./moderate.ts";
import { namedInputs } from "./named-inputs.ts";
import { type GivenUploads, paidInputs } from "./paid-inputs.ts";
import { type PriceDeps, priceTerms } from "./price-terms.ts";
import type { QueueShedding } from "./queue-shedding.ts";
import { type ModelDeps, ofOtherKind, readModel } from "./read-model.ts";
import { type FundsDeps, requireFunds } from "./require-funds.ts";
import { checkRetention } from "./retention-limit.ts";
import { type AskedRouting, readRouting } from "./routing-wish.ts";

export interface CreateTaskRequest
  extends Pick<
    GenerationRequest,
    "hops" | "trace" | "cancelAt" | "cancelsUnstarted" | "isInline" | "resultType"
  > {
  readonly kind: TaskKind;
  /** The parsed JSON body. */
  readonly body: JsonObject;
  readonly principal: Principal;
  readonly requestId: string;
  /** Scheme and host that the caller used. */
  readonly origin: string;
  /** `POST /v1/images/generations`; the scope of an idempotency key. */
  readonly endpoint: string;
  readonly idempotencyKey?: string | undefined;
  /** Two requests with an equal identity are the same request; the body unless given. */
  readonly identity?: JsonObject | undefined;
  /** Why there is no body: the create throws this, unless the request repeats an accepted one. */
  readonly refused?: unknown;
  /**
   * Files that came with the request, by the names that its media fields use, or a function that stages them, called once nothing
   * else is against the request. Kept here; the caller releases them.
   */
  readonly uploads?: GivenUploads | undefined;
  /** Where and how its events are sent, if the body has no `callback_url`. */
  readonly callback?: AskedCallback | undefined;
  /** How it asks for its way. */
  readonly routing?: AskedRouting | undefined;
  /** See NewTask.parent. */
  readonly parent?: Parent | undefined;
  /** Data URIs of the body that were decoded while it arrived. The caller discards them. */
  readonly inlineFiles?: InlineFiles | undefined;
  /** In a mask without transparency, white marks what may change, as in many APIs. Otherwise such a picture is no mask. */
  readonly hasPaintedMasks?: boolean | undefined;
  /** See Task.syncScope. */
  readonly syncScope?: string | undefined;
  /** The most that it may cost, if its caller sets a limit; see `CostLimit`. */
  readonly costLimit?: CostLimit | undefined;
  /** Told of a new task's id before it is stored, so that none of its changes is missed. */
  readonly onNew?: ((id: TaskId) => void) | undefined;
  /** Stores the task once it may be stored, in place of the store's own `admit`: for tasks that are stored together. */
  readonly admit?: ((admission: Admission) => Promise<AdmitResult>) | undefined;
  /** Aborts when the caller has disconnected, for checks that take long. */
  readonly gone?: (() => AbortSignal) | undefined;
}

export interface CreateTaskDeps extends InputDeps, ModelDeps, PriceDeps, FundsDeps {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly wakeup: Wakeup;
  readonly feed: TaskFeed;
  readonly tally: Pick<Tally, "created">;
  readonly routing: Routing;
  /** False while the service drains. */
  readonly isAccepting: () => boolean;
  /** Why the store currently cannot write. */
  readonly trouble: () => Error | undefined;
  readonly tellLowBalance: TellLowBalance;
  /** How long result files are kept, in milliseconds; undefined: for ever. */
  readonly outputsKeptMs?: (() => number | undefined) | undefined;
  /** The operator's content checks; absent if there are none. */
  readonly moderate?: Moderate | undefined;
  /** Refuses tasks that would wait too long. */
  readonly queues: Pick<QueueShedding, "check">;
}

/**
 * Accepts a task. Before the promise resolves, everything is checked, the price is held and the task is stored. Nothing of a refused
 * request is kept.
 * @throws AppError with the code that says why it was refused
 */
export type CreateTask = (request: CreateTaskRequest) => Promise<CreatedTask>;

export function createCreateTask(deps: CreateTaskDeps): CreateTask {
  /** Idempotency keys, by scope, whose first request is not answered yet. */
  const inProgress = new Set<string>();

  return async (request) => {
    if (!deps.isAccepting()) {
      const details = { retryAfterSec: 2, shouldRetry: true };
      throw new AppError("service_unavailable", { kind: "draining" }, details);
    }
    const use = idempotencyUse(request);
    if (use === undefined) return admit(deps, request, undefined);

    const scope = `${use.keyId} ${use.endpoint} ${use.key}`;
    if (inProgress.has(scope)) {
      const details = { retryAfterSec: IN_PROGRESS_RETRY_SEC, shouldRetry: true };
      throw new AppError("idempotency_in_progress", { kind: "idempotency_in_progress" }, details);
    }
    inProgress.add(scope);
    try {
      return await admitOnce(deps, request, use);
    } finally {
      inProgress.delete(scope);
    }
  };
}

async function admitOnce(
  deps: CreateTaskDeps,
  request: CreateTaskRequest,
  use: Pick<IdempotencyClaim, "keyId" | "endpoint" | "key">,
): Promise<CreatedTask> {
  const hashed = hashCanonical(deps.secrets, {
    value: request.identity ?? request.body,
    files: request.inlineFiles,
  });
  const claim = {
    ...use,
    // With most bodies there is nothing to wait for.
    fingerprint: typeof hashed === "string" ? hashed : await hashed,
    expiresAt: deps.clock.now() + IDEMPOTENCY_RETENTION_MS,
  };
  try {
    return await admit(deps, request, claim);
  } catch (error) {
    // A repeated request gets the same answer, even if it would be refused today.
    const replay = await deps.tasks.findReplay(claim, deps.clock.now());
    if (replay === undefined) throw error;
    return answer(replay, request.principal);
  }
}

/** Decides what needs no file content, before any is read or written. @throws AppError with the code that says why it is refused */
function decide(deps: CreateTaskDeps, request: CreateTaskRequest) {
  const trouble = deps.trouble();
  if (trouble !== undefined) throw trouble;
  const { model, body } = readRequest(deps, request);
  const callback = callbackOf(deps, body, request.callback);
  const named = nameRequest(model, body, request);
  const promised = quoteOf(deps, request, model, named);
  checkCost(promised.ceiling, request.costLimit);
  // Comes last, because the way counts as taken.
  const chosen = findRoute(deps, model, named, request.principal.accountId);
  return { model, body, named, callback, chosen, promised };
}

const NO_INPUTS = { inputs: [], assets: [] } as const;

async function admit(
  deps: CreateTaskDeps,
  request: CreateTaskRequest,
  idempotency: IdempotencyClaim | undefined,
): Promise<CreatedTask> {
  const { principal, requestId, origin, gone } = request;
  const { accountId } = principal;
  if (request.refused !== undefined) throw request.refused;
  const { model, body, named, callback, chosen, promised } = decide(deps, request);
  const staged: StagedFile[] = [];
  let isAdmitted = false;
  try {
    const waiting = deps.queues.check({ lane: chosen.lane, accountId, model });
    if (waiting !== undefined) await waiting;
    const asked = { model, body, principal, requestId, gone, needed: promised.ceiling };
    const replay = deps.moderate?.isFor(asked) && (await passChecks(deps, asked, idempotency));
    if (typeof replay === "object") return replay;
    const id = deps.ids.create("task");
    const { inputs, assets } =
      named.inputs.length === 0
        ? NO_INPUTS
        : await paidInputs(deps, { ...request, model, body, taskId: id, staged, needed: promised.ceiling });
    request.onNew?.(id);
    const task: NewTask = {
      id,
      kind: model.kind,
      model: model.id,
      requestId,
      accountId,
      keyId: principal.keyId,
      request: inputs.length === 0 ? named : { ...named, inputs },
      quote: promised,
      held: promised.ceiling,
      origin,
      callbackUrl: callback.callbackUrl,
      callbackTerms: callback.callbackTerms,
      parent: request.parent,
      syncScope: request.syncScope,
      lane: chosen.lane,
      routeIndex: chosen.index,
      setup: chosen.setup,
      createdAt: deps.clock.now(),
    };
    const { concurrency } = principal.policy;
    const quota = quotaNow(deps, principal);
    // Before it is stored: the claim that this leads to shares its commit.
    if (request.admit !== undefined) deps.wakeup.queued();
    const store = request.admit ?? deps.wakeup.admit;
    const result = await store({ task, assets, idempotency, concurrency, quota });
    if (result.kind !== "admitted") return answer(result, principal);
    isAdmitted = true;
    deps.tally.created(model.id);
    deps.feed.publish({ id, accountId }, false);
    if (result.isLow) deps.tellLowBalance(accountId);
    return { taskId: id, held: promised.ceiling, replayed: false, task };
  } finally {
    if (!isAdmitted) deps.routing.giveBack(model, chosen);
    for (const file of staged) await file.release(isAdmitted);
  }
}

/** Puts a request through the operator's checks. One that was accepted before is not judged again: @returns its answer */
async function passChecks(
  deps: CreateTaskDeps,
  { needed, ...request }: Moderated & { readonly needed: Micros },
  idempotency: IdempotencyClaim | undefined,
): Promise<CreatedTask | undefined> {
  const { principal } = request;
  const replay = idempotency && (await deps.tasks.findReplay(idempotency, deps.clock.now()));
  if (replay !== undefined) return answer(replay, principal);
  await deps.moderate?.check({ ...request, requireFunds: () => requireFunds(deps, principal, needed) });
  return undefined;
}

/** @throws AppError if the model has no price for the request */
function quoteOf(deps: PriceDeps, { principal }: CreateTaskRequest, model: Model, named: GenerationRequest) {
  const promised = quote(model, named, priceTerms(deps, principal, model));
  if (isPriced(promised)) return promised;
  throw invalid({ kind: "unpriced", model: model.id });
}

function quotaNow({ clock }: CreateTaskDeps, { policy }: Principal): Admission["quota"] {
  const { quota } = policy;
  return quota && { limit: quota.limit, period: quotaPeriod(quota.reset, clock.now()) };
}

/** The idempotency key of a request. @throws AppError `invalid_idempotency_key` */
function idempotencyUse({ principal, endpoint, idempotencyKey: key }: CreateTaskRequest) {
  if (key === undefined) return undefined;
  checkIdempotencyKey(key);
  return { keyId: principal.keyId, endpoint, key };
}

/** The model, and the body as its schema accepts it. */
function readRequest(deps: CreateTaskDeps, request: CreateTaskRequest) {
  const model = findModel(deps, request);
  const validated = deps.catalog.validate(model, request.body);
  if (!validated.ok) throw invalid(validated.facts);
  refuseMisplacedFiles(model, validated.body, request.inlineFiles);
  checkRetention(validated.body.retain_seconds, deps.outputsKeptMs?.(), request.principal);
  return { model, body: validated.body };
}

function findModel(deps: CreateTaskDeps, request: CreateTaskRequest): Model {
  const model = readModel(deps, request.principal, request.body.model);
  if (model.kind === request.kind) return model;
  throw ofOtherKind("model_not_available", model);
}

/** The request, with its inputs given only by name. */
function nameRequest(model: Model, body: JsonObject, request: CreateTaskRequest): GenerationRequest {
  const named = toGenerationRequest(model, body, namedInputs(model, body), request.hops);
  const routing = readRouting(request.routing, request.principal, model);
  const { trace, cancelAt, cancelsUnstarted, isInline, resultType } = request;
  // Most requests have none of these, and a copy takes longer than a check.
  if (routing === undefined && !trace && cancelAt === undefined && !isInline && !resultType) return named;
  return {
    ...{ ...named, ...(routing && { routing }), ...(trace && { trace }), ...(isInline && { isInline }) },
    ...(resultType && { resultType }),
    ...(cancelAt !== undefined && { cancelAt, ...(cancelsUnstarted && { cancelsUnstarted }) }),
  };
}

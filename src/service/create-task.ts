import type { Principal } from "../domain/account.ts";
import type { Asset } from "../domain/asset.ts";
import { canonicalJson } from "../domain/canonical-json.ts";
import { AppError } from "../domain/errors.ts";
import { IDEMPOTENCY_RETENTION_MS, type IdempotencyClaim, isIdempotencyKey } from "../domain/idempotency.ts";
import type { ProviderId, TaskId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import { type Model, selectMode } from "../domain/model.ts";
import { CURRENCY, formatAmount, type Micros } from "../domain/money.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { Clock, Ids, Secrets, Wakeup } from "../domain/ports/runtime.ts";
import type { AdmitResult, TaskStore } from "../domain/ports/task-store.ts";
import { quote } from "../domain/pricing.ts";
import type { GenerationRequest, MediaInput, TaskKind } from "../domain/request.ts";
import { type ChosenRoute, chooseRoute } from "../domain/routing.ts";
import { collectInputs, type InputDeps } from "./collect-inputs.ts";

export interface CreateTaskRequest {
  readonly kind: TaskKind;
  /** The parsed JSON body. */
  readonly body: JsonObject;
  readonly principal: Principal;
  readonly requestId: string;
  /** Scheme and host the caller used. */
  readonly origin: string;
  /** `POST /v1/images/generations`; the scope of an idempotency key. */
  readonly route: string;
  readonly idempotencyKey?: string | undefined;
}

export interface CreatedTask {
  readonly taskId: TaskId;
  /** The amount held. */
  readonly held: Micros;
  /** An earlier create with the same idempotency key is answered again. */
  readonly replayed: boolean;
}

export interface CreateTaskDeps extends InputDeps {
  readonly tasks: TaskStore;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: Secrets;
  readonly wakeup: Wakeup;
  readonly hasProvider: (id: ProviderId) => boolean;
  /** False while the service drains. */
  readonly isAccepting: () => boolean;
}

/**
 * Accepts a task: everything is checked, its price held and the task stored before the promise resolves, and nothing at all is
 * kept of a request that is refused.
 *
 * @throws AppError with the code that says why it was refused
 */
export type CreateTask = (request: CreateTaskRequest) => Promise<CreatedTask>;

export function createCreateTask(deps: CreateTaskDeps): CreateTask {
  /** Idempotency keys whose first request is being worked on, by scope. */
  const inProgress = new Set<string>();

  return async (request) => {
    if (!deps.isAccepting()) {
      throw new AppError(
        "service_unavailable",
        "The service takes no new tasks at this moment; send the request again in a few seconds.",
        {
          retryAfterSec: 2,
        },
      );
    }
    const claim = idempotencyClaim(deps, request);
    if (claim === undefined) return admit(deps, request, undefined);

    const scope = `${claim.keyId} ${claim.route} ${claim.key}`;
    if (inProgress.has(scope)) {
      throw new AppError(
        "idempotency_in_progress",
        "The first request with this Idempotency-Key is still being processed.",
        { retryAfterSec: 1 },
      );
    }
    inProgress.add(scope);
    try {
      return await admit(deps, request, claim);
    } catch (error) {
      // What was accepted once is answered again even if today it would be refused.
      const replay = await deps.tasks.findReplay(claim, deps.clock.now());
      if (replay === undefined) throw error;
      return answer(replay);
    } finally {
      inProgress.delete(scope);
    }
  };
}

async function admit(
  deps: CreateTaskDeps,
  request: CreateTaskRequest,
  idempotency: IdempotencyClaim | undefined,
): Promise<CreatedTask> {
  const model = findModel(deps.catalog, request);
  const chosen = findRoute(deps, model);
  const validated = deps.catalog.validate(model, request.body);
  if (!validated.ok) throw new AppError("invalid_request", validated.message, { param: validated.param });
  const body = validated.body;

  const callbackUrl = typeof body.callback_url === "string" ? body.callback_url : undefined;
  if (callbackUrl !== undefined) {
    const refusal = deps.egress.refusal(callbackUrl, "callback");
    if (refusal !== undefined) {
      throw new AppError("invalid_request", `callback_url ${refusal}`, { param: "callback_url" });
    }
  }

  const id = deps.ids.create("task");
  const { inputs, assets } = await collectInputs(deps, { ...request, model, body, taskId: id });
  const canonical = toGenerationRequest(model, body, inputs);
  const promised = quote(model, canonical);
  const result = await deps.tasks.admit({
    task: {
      id,
      accountId: request.principal.accountId,
      keyId: request.principal.keyId,
      requestId: request.requestId,
      kind: model.kind,
      model: model.id,
      request: canonical,
      quote: promised,
      held: promised.ceiling,
      origin: request.origin,
      callbackUrl,
      lane: chosen.route.provider,
      routeIndex: chosen.index,
      createdAt: deps.clock.now(),
    },
    assets: assets satisfies readonly Asset[],
    idempotency,
  });
  if (result.kind !== "admitted") return answer(result);
  deps.wakeup.queued();
  return { taskId: id, held: promised.ceiling, replayed: false };
}

function answer(result: Exclude<AdmitResult, { kind: "admitted" }>): CreatedTask {
  switch (result.kind) {
    case "replayed":
      return { taskId: result.taskId, held: result.held, replayed: true };
    case "conflict":
      throw new AppError(
        "idempotency_conflict",
        "This Idempotency-Key was already used for a request with a different body. Use a new key for a new request.",
      );
    case "insufficient_quota": {
      const { available, needed } = result;
      throw new AppError(
        "insufficient_quota",
        `This request needs ${formatAmount(needed)} ${CURRENCY}; the account has ${formatAmount(available)} available.`,
      );
    }
  }
}

function idempotencyClaim(deps: CreateTaskDeps, request: CreateTaskRequest): IdempotencyClaim | undefined {
  const key = request.idempotencyKey;
  if (key === undefined) return undefined;
  if (!isIdempotencyKey(key)) {
    throw new AppError(
      "invalid_idempotency_key",
      `Idempotency-Key must be 1 to 255 printable ASCII characters; got ${key.length} characters.`,
    );
  }
  return {
    keyId: request.principal.keyId,
    route: request.route,
    key,
    fingerprint: deps.secrets.hash(canonicalJson(request.body)),
    expiresAt: deps.clock.now() + IDEMPOTENCY_RETENTION_MS,
  };
}

/** Longer than any model id. */
const MODEL_ID_MAX = 200;

function findModel(catalog: Catalog, request: CreateTaskRequest): Model {
  const { model: id } = request.body;
  if (typeof id !== "string" || id === "" || id.length > MODEL_ID_MAX) {
    throw new AppError("invalid_request", "model must be the id of a model; GET /v1/models lists them.", {
      param: "model",
    });
  }
  const model = catalog.find(id);
  if (model === undefined) {
    throw new AppError(
      "model_not_available",
      `There is no model "${id.slice(0, 80)}"; GET /v1/models lists those available.`,
      { param: "model" },
    );
  }
  if (model.kind !== request.kind) {
    const path = `/v1/${model.kind}s/generations`;
    throw new AppError(
      "model_not_available",
      `"${id}" is ${model.kind === "image" ? "an image" : "a video"} model; send this request to POST ${path}.`,
      {
        param: "model",
      },
    );
  }
  return model;
}

function findRoute(deps: CreateTaskDeps, model: Model): ChosenRoute {
  const chosen = chooseRoute(model, deps.hasProvider);
  if (chosen !== undefined) return chosen;
  throw new AppError("model_not_available", `No provider of "${model.id}" is switched on at present.`, {
    param: "model",
  });
}

function toGenerationRequest(
  model: Model,
  body: JsonObject,
  inputs: readonly MediaInput[],
): GenerationRequest {
  const { model: _model, prompt, n, callback_url: _callback, task_id: _task, index: _index, ...rest } = body;
  const parameters: Record<string, JsonObject[string] & {}> = {};
  for (const [name, value] of Object.entries(rest)) {
    const isMedia = model.mediaFields.some((field) => field.name === name);
    if (!isMedia && value !== undefined && value !== null) parameters[name] = value;
  }
  const roles = new Set(inputs.map((input) => input.role));
  const mode = selectMode(model, roles);
  if (mode === undefined) {
    const wanted = model.modes
      .map((each) => `${each.id} (${each.requires.join(", ") || "no input"})`)
      .join(" or ");
    throw new AppError("invalid_request", `The inputs given fit no mode of ${model.id}: it does ${wanted}.`);
  }
  return {
    kind: model.kind,
    model: model.id,
    mode: mode.id,
    prompt: typeof prompt === "string" ? prompt : undefined,
    n: typeof n === "number" ? n : 1,
    parameters,
    inputs,
  };
}

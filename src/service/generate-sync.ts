import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import type { ModelId, TaskId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import type { Micros } from "../domain/money/money.ts";
import type { Secrets } from "../domain/ports/runtime.ts";
import type { IdempotencyClaim } from "../domain/task/idempotency.ts";
import { isTerminal, type TaskSummary } from "../domain/task/task.ts";
import { namesFrom } from "../domain/words/say.ts";
import { type CompatRequest, fromCompat } from "./compat-request.ts";
import type { CreateTask, CreateTaskRequest } from "./create-task.ts";
import { hashCanonical } from "./inline-files.ts";
import type { Orphans } from "./orphans.ts";
import { type ModelDeps, readCompatModel } from "./read-model.ts";
import { awaitTask, type ReadTaskDeps } from "./read-task.ts";
import { endedWithoutImages, goneOn, stopping } from "./sync-errors.ts";

export interface GenerateSyncDeps extends ReadTaskDeps, ModelDeps {
  readonly createTask: CreateTask;
  readonly secrets: Pick<Secrets, "hash" | "hashPieces">;
  readonly orphans: Orphans;
}

export interface SyncRequest extends Omit<CreateTaskRequest, "kind" | "body" | "identity" | "syncScope"> {
  readonly request: CompatRequest;
  /** Two requests with an equal identity are the same request. */
  readonly identity: JsonObject;
}

/** A synchronous call whose task is accepted, or joined. */
export interface SyncCall {
  readonly taskId: TaskId;
  readonly model: ModelId;
  /** The amount that this request holds; absent when it joined a task. */
  readonly held?: Micros | undefined;
  /** The looks that the model is asked for, by its own names. */
  readonly sent: JsonObject;
  /** The idempotency key was used before. */
  readonly replayed: boolean;
  /**
   * Waits for the task's images.
   * @param until.waitMs how long at most
   * @param until.gone aborts when the caller is no longer there
   * @param until.stopping aborts when the service stops
   * @returns the completed task
   * @throws AppError `sync_image_timeout`, after which the task goes on; for a failed task, the code for why it failed
   */
  finish(until: { waitMs: number; gone: AbortSignal; stopping: AbortSignal }): Promise<TaskSummary>;
  /** The caller left before it had received all images. The next equal request joins the task. */
  leave(): void;
}

/**
 * Accepts a request of the synchronous images API as a task. When a caller stops waiting and sends the same request again, that
 * request joins the task instead of making another. So does a request with the same idempotency key.
 * @throws AppError with the code that says why it was refused; `model_not_found` for models
 */
export type GenerateSync = (request: SyncRequest) => Promise<SyncCall>;

export function createGenerateSync(deps: GenerateSyncDeps): GenerateSync {
  return async (given) => {
    const { principal, endpoint } = given;
    const model = imageModel(deps, principal, given.request.fields.model);
    const { body, names } = fromCompat({ model, routes: deps.catalog.routes(model) }, given.request);
    // An idempotency key already says which requests are the same.
    const syncScope =
      given.idempotencyKey === undefined
        ? await hashCanonical(deps.secrets, {
            before: `${principal.keyId}\n${endpoint}\n`,
            value: given.identity,
            files: given.inlineFiles,
          })
        : undefined;
    const { idempotencyKey } = given;
    const use =
      idempotencyKey === undefined ? undefined : { keyId: principal.keyId, endpoint, key: idempotencyKey };
    const sent = looksOf(body);
    const call = (taskId: TaskId, joined: Pick<SyncCall, "held" | "replayed">): SyncCall => {
      const leave = () => {
        if (syncScope !== undefined) deps.orphans.add(syncScope, taskId, deps.clock.elapsed());
      };
      return {
        taskId,
        model: model.id,
        sent,
        ...joined,
        finish: (until) => finish(deps, principal, { taskId, leave, use }, until),
        leave,
      };
    };
    const adopted = syncScope === undefined ? undefined : await adopt(deps, syncScope);
    if (adopted !== undefined) return call(adopted, { replayed: false });
    try {
      const created = await deps.createTask({ ...given, kind: "image", body, syncScope });
      const { replayed } = created;
      return call(created.taskId, { held: replayed ? undefined : created.held, replayed });
    } catch (error) {
      throw error instanceof AppError ? error.renamed(namesFrom(names)) : error;
    }
  };
}

/** Not the whole body: it may hold images, and calls wait for minutes. */
function looksOf({ size, quality, background, output_format }: JsonObject): JsonObject {
  return { size, quality, background, output_format };
}

type IdempotencyUse = Pick<IdempotencyClaim, "keyId" | "endpoint" | "key">;

function imageModel(deps: ModelDeps, principal: Principal, id: unknown): Model {
  const model = readCompatModel(deps, principal, id);
  if (model.kind === "image") return model;
  throw new AppError("model_not_found", { kind: "video_model_here", model: model.id, field: "model" });
}

/** A task that an equal request left. Failed tasks are skipped: they cost nothing, so the request is tried again; and deleted ones. */
async function adopt(deps: GenerateSyncDeps, scope: string) {
  for (;;) {
    const id = deps.orphans.adopt(scope, deps.clock.elapsed());
    if (id === undefined) return undefined;
    const status = (await deps.tasks.summary(id))?.status ?? "cancelled";
    if (status !== "failed" && status !== "cancelled") return id;
  }
}

async function finish(
  deps: GenerateSyncDeps,
  principal: Principal,
  { taskId, leave, use }: Pick<SyncCall, "taskId" | "leave"> & { readonly use: IdempotencyUse | undefined },
  until: { waitMs: number; gone: AbortSignal; stopping: AbortSignal },
): Promise<TaskSummary> {
  const signal = AbortSignal.any([until.gone, until.stopping]);
  const task = await awaitTask(deps, principal, { id: taskId, kind: "image", waitMs: until.waitMs, signal });
  const isDelivered = isTerminal(task.status) && !until.gone.aborted;
  if (!isDelivered) leave();
  if (task.status === "completed") return task;
  if (isTerminal(task.status)) {
    // An error frees the key for the same request, or for a corrected one.
    if (use !== undefined) await deps.tasks.freeIdempotency(use, taskId);
    throw endedWithoutImages(task);
  }
  throw until.stopping.aborted ? stopping(taskId) : goneOn(taskId);
}

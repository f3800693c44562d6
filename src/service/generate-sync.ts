import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Model } from "../domain/model/model.ts";
import { type CompatRequest, fromCompat } from "./compat-request.ts";
import type { CreateTaskRequest } from "./create-task.ts";
import { createJoinTask, type JoinedTask, type JoinTaskDeps } from "./join-task.ts";
import { type ModelDeps, readCompatModel } from "./read-model.ts";

export interface GenerateSyncDeps extends JoinTaskDeps, ModelDeps {}

/** A request that cannot be read, because what it is made from is gone; see `CreateTaskRequest.refused`. */
interface UnreadRequest {
  readonly model: Model;
  readonly refused: unknown;
}

export interface SyncRequest
  extends Omit<CreateTaskRequest, "kind" | "body" | "refused" | "identity" | "syncScope"> {
  readonly request: CompatRequest | UnreadRequest;
  /** Two requests with an equal identity are the same request. */
  readonly identity: JsonObject;
}

/** A synchronous call whose task is accepted, or joined. */
export interface SyncCall extends JoinedTask {
  /** The model's parameters for its looks, by its own names. */
  readonly sent: JsonObject;
}

/**
 * Accepts a request of the synchronous images API as a task. When a caller stops waiting and sends the same request again, that
 * request joins the task instead of making another. So does a request with the same idempotency key.
 * @throws AppError with the code that says why it was refused; `model_not_found` for models
 */
export type GenerateSync = (request: SyncRequest) => Promise<SyncCall>;

export function createGenerateSync(deps: GenerateSyncDeps): GenerateSync {
  const join = createJoinTask(deps);
  return async ({ request, ...given }) => {
    const { model, body, names, resultType, refused } =
      "refused" in request
        ? { ...request, body: {}, names: {}, resultType: undefined }
        : { resultType: undefined, ...bodyFor(deps, given.principal, request), refused: undefined };
    const joined = await join({ ...given, kind: model.kind, model, body, names, resultType, refused });
    return { ...joined, sent: looksOf(body) };
  };
}

function bodyFor(deps: ModelDeps, principal: Principal, request: CompatRequest) {
  const model = imageModel(deps, principal, request.fields.model);
  return { model, ...fromCompat({ model, routes: deps.catalog.routes(model) }, request) };
}

/** Not the whole body, because it may contain images and calls wait for minutes. */
function looksOf({ size, quality, background, output_format }: JsonObject): JsonObject {
  return { size, quality, background, output_format };
}

function imageModel(deps: ModelDeps, principal: Principal, id: unknown): Model {
  const model = readCompatModel(deps, principal, id);
  if (model.kind === "image") return model;
  throw new AppError("model_not_found", { kind: "video_model_here", model: model.id, field: "model" });
}

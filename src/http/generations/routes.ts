import { formatAmount } from "../../domain/money/money.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import type { CreateTask } from "../../service/create-task.ts";
import { readJsonBody } from "../body.ts";
import { type Endpoint, type KeyedExchange, keyed } from "../exchange.ts";
import type { UploadGate } from "../multipart/upload-gate.ts";
import { type Reply, success } from "../reply.ts";
import { CREATE_IMAGE, CREATE_VIDEO } from "./wire.ts";

/** POST /v1/images/generations and /v1/videos/generations (docs/api.md 4.2). */
export interface GenerationEndpointDeps {
  readonly createTask: CreateTask;
  /** Bounds the memory of all uploads, of every endpoint. */
  readonly gate: UploadGate;
}

export function generationEndpoints(deps: GenerationEndpointDeps): Endpoint[] {
  return [create(deps, "image", "/v1/images/generations"), create(deps, "video", "/v1/videos/generations")];
}

function create(deps: GenerationEndpointDeps, kind: TaskKind, path: string): Endpoint {
  const contract = kind === "image" ? CREATE_IMAGE : CREATE_VIDEO;
  return keyed("POST", path, contract, { feature: `${kind}s`, isCounted: true }, (exchange) => {
    const { request, principal } = exchange;
    return deps.gate.runWhole(request, principal.accountId, () => accept(deps, kind, path, exchange));
  });
}

async function accept(
  { createTask }: GenerationEndpointDeps,
  kind: TaskKind,
  path: string,
  { request, principal, requestId, origin }: KeyedExchange,
): Promise<Reply> {
  const body = await readJsonBody(request);
  const idempotencyKey = request.headers.get("idempotency-key") ?? undefined;
  const asked = { kind, body, principal, requestId, origin, endpoint: `POST ${path}`, idempotencyKey };
  const { taskId, held, replayed } = await createTask(asked);
  const headers: Record<string, string> = { "X-Request-Cost": formatAmount(held) };
  if (replayed) headers["X-Idempotent-Replay"] = "true";
  // The schema has checked that it is a string.
  return success({ task_id: taskId }, headers, { task: taskId, model: body.model as string });
}

import type { AssetStore } from "../../domain/ports/asset-store.ts";
import type { Log } from "../../domain/ports/runtime.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import type { CreateTask } from "../../service/create-task.ts";
import { accepted } from "../accepted.ts";
import { readJsonBody } from "../body.ts";
import { type Endpoint, type KeyedExchange, keyed } from "../exchange.ts";
import { hopsOf } from "../hops.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { type Reply, succeeding } from "../reply.ts";
import { routingOf } from "../routing.ts";
import { requireStanding } from "../standing.ts";
import { createTellImagesClients } from "./tell-images-clients.ts";
import { CREATE_IMAGE, CREATE_VIDEO } from "./wire.ts";

/** POST /v1/images/generations and /v1/videos/generations (docs/api.md 4.2). */
export interface GenerationEndpointDeps {
  readonly createTask: CreateTask;
  readonly assets: Pick<AssetStore, "receive">;
  readonly log: Pick<Log, "warn">;
}

export function generationEndpoints(deps: GenerationEndpointDeps): Endpoint[] {
  const tellImagesClients = createTellImagesClients(deps.log);
  const made = { ...deps, tellImagesClients };
  return [create(made, "image", "/v1/images/generations"), create(made, "video", "/v1/videos/generations")];
}

interface MadeDeps extends GenerationEndpointDeps {
  readonly tellImagesClients: ReturnType<typeof createTellImagesClients>;
}

function create(deps: MadeDeps, kind: TaskKind, path: string): Endpoint {
  const contract = kind === "image" ? CREATE_IMAGE : CREATE_VIDEO;
  return keyed(
    "POST",
    path,
    contract,
    { feature: `${kind}s`, isCounted: true, sheds: "creates" },
    (exchange) => accept(deps, kind, path, exchange),
  );
}

async function accept(
  { createTask, assets, tellImagesClients }: MadeDeps,
  kind: TaskKind,
  path: string,
  exchange: KeyedExchange,
): Promise<Reply> {
  const { request, principal, standing, requestId, origin } = exchange;
  const hops = hopsOf(request);
  const { body, inlineFiles, discard } = await readJsonBody(exchange, assets);
  try {
    requireStanding(standing);
    const idempotencyKey = idempotencyKeyOf(request);
    const created = await createTask({
      kind,
      body,
      inlineFiles,
      principal,
      requestId,
      idempotencyKey,
      origin,
      hops,
      endpoint: `POST ${path}`,
      routing: routingOf(request),
      trace: exchange.trace,
      gone: () => request.signal,
    });
    const { taskId: task } = created;
    tellImagesClients(exchange, principal.keyName, path);
    return accepted(created, {
      body: succeeding(`{"task_id":"${task}"}`),
      // The schema has checked that it is a string.
      log: { task, model: body.model as string },
    });
  } finally {
    // An await would cost a turn, and most bodies have no files.
    if (discard !== undefined) await discard();
  }
}

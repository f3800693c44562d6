import type { ResponseFormat } from "../../domain/access.ts";
import type { JsonObject } from "../../domain/json.ts";
import { MAX_WAITING_UPLOADS, UPLOAD_BYTES_AT_ONCE } from "../../domain/limits.ts";
import { formatAmount } from "../../domain/money.ts";
import type { Uploads } from "../../service/collect-inputs.ts";
import type { GenerateSync } from "../../service/generate-sync.ts";
import { readJsonBody } from "../body.ts";
import { imagesReply } from "../compat/answer.ts";
import { readEditForm } from "../compat/read-form.ts";
import { type CompatBody, readEdit, readGeneration, responseFormatOf } from "../compat/read-request.ts";
import { type StreamDeps, streamReply } from "../compat/stream.ts";
import type { KeyedExchange, Route } from "../exchange.ts";
import { createUploadGate } from "../multipart/upload-gate.ts";
import type { Reply } from "../reply.ts";
import { EDIT_IMAGES, GENERATE_IMAGES } from "../wire/compat.ts";

export interface CompatImageDeps extends StreamDeps {
  readonly generateSync: GenerateSync;
  /** Milliseconds on the clock that never jumps. */
  readonly elapsed: () => number;
  /** The server's settings. */
  readonly sync: { readonly waitMs: number; readonly responseFormat: ResponseFormat };
  /** Aborts when what could still be finished before the service stops is finished. */
  readonly stopping: AbortSignal;
  /** Lifts the server's own limit on how long a request may stay open. */
  readonly keepOpen: (request: Request) => void;
}

const GENERATIONS = { path: "/compat/v1/images/generations", event: "image_generation" };
const EDITS = { path: "/compat/v1/images/edits", event: "image_edit" };

/** POST /compat/v1/images/generations (§4.5) and /compat/v1/images/edits (§4.6). */
export function compatImageRoutes(deps: CompatImageDeps): Route[] {
  const gate = createUploadGate({ bytesAtOnce: UPLOAD_BYTES_AT_ONCE, maxWaiting: MAX_WAITING_UPLOADS });
  return [
    {
      method: "POST",
      path: GENERATIONS.path,
      operation: GENERATE_IMAGES,
      access: "api_key",
      feature: "compat",
      isCounted: true,
      async handle(exchange) {
        const body = await readJsonBody(exchange.request);
        return answer(deps, exchange, { ...readGeneration(body), ...GENERATIONS, identity: body });
      },
    },
    {
      method: "POST",
      path: EDITS.path,
      operation: EDIT_IMAGES,
      access: "api_key",
      feature: "compat",
      isCounted: true,
      async handle(exchange) {
        const { request } = exchange;
        if (!isForm(request)) {
          const body = await readJsonBody(request);
          return answer(deps, exchange, { ...readEdit(body), ...EDITS, identity: body });
        }
        const { body, uploads, identity, release } = await gate.run(request, () =>
          readEditForm(deps, request),
        );
        try {
          return await answer(deps, exchange, { ...body, ...EDITS, identity, uploads });
        } finally {
          await release();
        }
      },
    },
  ];
}

function isForm(request: Request): boolean {
  return /^\s*multipart\/form-data\b/i.test(request.headers.get("content-type") ?? "");
}

interface Call extends CompatBody {
  /** First part of the names of its events. */
  readonly event: string;
  readonly path: string;
  readonly identity: JsonObject;
  readonly uploads?: Uploads | undefined;
}

async function answer(deps: CompatImageDeps, exchange: KeyedExchange, call: Call): Promise<Reply> {
  const { request, principal, requestId, origin } = exchange;
  const format =
    call.responseFormat ??
    responseFormatOf(exchange.query().get("response_format")) ??
    principal.policy.responseFormat ??
    deps.sync.responseFormat;
  const accepted = await deps.generateSync({
    ...call,
    principal,
    requestId,
    origin,
    route: `POST ${call.path}`,
    idempotencyKey: request.headers.get("idempotency-key") ?? undefined,
  });
  const { waitMs, headers } = waitOf(deps, exchange);
  if (accepted.replayed) headers["X-Idempotent-Replay"] = "true";
  if (call.isStream) {
    if (accepted.held !== undefined) headers["X-Request-Cost"] = formatAmount(accepted.held);
    const { taskId, finish } = accepted;
    const { event } = call;
    const until = { waitMs, stopping: deps.stopping };
    return streamReply(deps, {
      ...{ event, taskId, requestId, format, origin, headers, gone: request.signal },
      finish: (gone) => finish({ ...until, gone }),
    });
  }
  deps.keepOpen(request);
  const task = await accepted.finish({
    waitMs: Math.min(waitMs, untilEdgeMs(deps, exchange)),
    gone: request.signal,
    stopping: deps.stopping,
  });
  return imagesReply(deps, task, { format, origin, headers });
}

/** The shortest of the waits that count: the server's, the key's, and what the caller prefers. */
function waitOf(deps: CompatImageDeps, { request, principal }: KeyedExchange) {
  const headers: Record<string, string> = {};
  let waitMs = deps.sync.waitMs;
  const { syncWaitSec } = principal.policy;
  if (syncWaitSec !== undefined) waitMs = Math.min(waitMs, syncWaitSec * 1000);
  const preferred = /(?:^|[,;\s])wait=(\d{1,6})(?=$|[,;\s])/i.exec(request.headers.get("prefer") ?? "")?.[1];
  if (preferred !== undefined && Number(preferred) * 1000 < waitMs) {
    waitMs = Number(preferred) * 1000;
    headers["Preference-Applied"] = `wait=${preferred}`;
  }
  return { waitMs, headers };
}

/** How long until the default address cuts the request; its own answer must come before. */
function untilEdgeMs(deps: CompatImageDeps, { edgeDeadline }: KeyedExchange): number {
  const deadline = edgeDeadline();
  return deadline === undefined ? Number.POSITIVE_INFINITY : Math.max(0, deadline - deps.elapsed());
}

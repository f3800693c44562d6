import type { ResponseFormat } from "../../domain/access/key-policy.ts";
import type { JsonObject } from "../../domain/json.ts";
import { formatAmount } from "../../domain/money/money.ts";
import type { Uploads } from "../../service/collect-inputs.ts";
import type { GenerateSync } from "../../service/generate-sync.ts";
import { readJsonBody } from "../body.ts";
import { type Endpoint, type KeyedExchange, keyed, type LateAnswerDeps } from "../exchange.ts";
import type { UploadGate } from "../multipart/upload-gate.ts";
import type { Reply } from "../reply.ts";
import { imagesReply } from "./answer.ts";
import { readEditForm } from "./read-form.ts";
import { type CompatBody, readEdit, readGeneration, responseFormatOf } from "./read-request.ts";
import { type StreamDeps, streamReply } from "./stream.ts";
import { EDIT_IMAGES, GENERATE_IMAGES } from "./wire.ts";

export interface CompatImageDeps extends StreamDeps, LateAnswerDeps {
  readonly generateSync: GenerateSync;
  /** Bounds the memory of all uploads, of every endpoint. */
  readonly gate: UploadGate;
  /** The server's settings. */
  readonly sync: { readonly waitMs: number; readonly responseFormat: ResponseFormat };
}

const GENERATIONS = { path: "/compat/v1/images/generations", event: "image_generation" };
const OPTIONS = { feature: "compat", isCounted: true } as const;
const EDITS = { path: "/compat/v1/images/edits", event: "image_edit" };

/** POST /compat/v1/images/generations (docs/api.md 5.1) and /compat/v1/images/edits (docs/api.md 5.2). */
export function compatImageEndpoints(deps: CompatImageDeps): Endpoint[] {
  return [
    keyed("POST", GENERATIONS.path, GENERATE_IMAGES, OPTIONS, (exchange) =>
      answer(deps, exchange, async () => {
        const body = await readJsonBody(exchange.request);
        return { ...readGeneration(body), ...GENERATIONS, identity: body };
      }),
    ),
    keyed("POST", EDITS.path, EDIT_IMAGES, OPTIONS, async (exchange) => {
      const { request } = exchange;
      if (!isForm(request)) {
        return answer(deps, exchange, async () => {
          const body = await readJsonBody(request);
          return { ...readEdit(body), ...EDITS, identity: body };
        });
      }
      const read = () => readEditForm(deps, request);
      const { body, ...form } = await deps.gate.run(request, exchange.principal.accountId, read);
      try {
        return await answer(deps, exchange, async () => ({ ...body, ...EDITS, ...form }));
      } finally {
        await form.release();
      }
    }),
  ];
}

function isForm(request: Request): boolean {
  return /^\s*multipart\/form-data\b/i.test(request.headers.get("content-type") ?? "");
}

interface Call extends CompatBody {
  /** The prefix of its events' names. */
  readonly event: string;
  readonly path: string;
  readonly identity: JsonObject;
  readonly uploads?: Uploads | undefined;
  /** Releases the uploads; those that a task uses stay. */
  readonly release?: (() => Promise<void>) | undefined;
}

/** @param read reads the call; its memory is freed before the wait begins */
async function answer(deps: CompatImageDeps, exchange: KeyedExchange, read: () => Promise<Call>) {
  const { request } = exchange;
  const whole = () => read().then((call) => accept(deps, exchange, call));
  const accepted = isForm(request)
    ? await whole()
    : await deps.gate.runWhole(request, exchange.principal.accountId, whole);
  return finish(deps, exchange, accepted);
}

/** How to answer a call whose task is accepted. Everything else of the call is freed. */
type Accepted = Awaited<ReturnType<typeof accept>>;

async function accept(deps: CompatImageDeps, exchange: KeyedExchange, call: Call) {
  const { request, principal, requestId, origin } = exchange;
  const format =
    call.responseFormat ??
    responseFormatOf(exchange.query().get("response_format")) ??
    principal.policy.responseFormat ??
    deps.sync.responseFormat;
  const task = await deps.generateSync({
    ...call,
    principal,
    requestId,
    origin,
    endpoint: `POST ${call.path}`,
    idempotencyKey: request.headers.get("idempotency-key") ?? undefined,
  });
  // The wait is long, and uploads that no task uses are open files.
  await call.release?.();
  const { size } = call.request.fields;
  const { event, isStream } = call;
  return { event, isStream, size: typeof size === "string" ? size : "auto", format, task };
}

async function finish(
  deps: CompatImageDeps,
  exchange: KeyedExchange,
  { event, isStream, size, format, task: accepted }: Accepted,
): Promise<Reply> {
  const { request, requestId, origin } = exchange;
  const { waitMs, headers } = waitOf(deps, exchange);
  if (accepted.replayed) headers["X-Idempotent-Replay"] = "true";
  // A stream starts to wait when it is read. With the caller gone, nothing would mark the task as left.
  if (isStream && !request.signal.aborted) {
    if (accepted.held !== undefined) headers["X-Request-Cost"] = formatAmount(accepted.held);
    const { taskId, finish, leave } = accepted;
    const until = { waitMs, stopping: deps.stopping };
    return streamReply(deps, {
      ...{ event, taskId, requestId, size, format, origin, headers, leave, gone: request.signal },
      finish: (gone) => finish({ ...until, gone }),
    });
  }
  deps.keepOpen(request);
  const task = await accepted.finish({
    waitMs: Math.min(waitMs, untilEdgeMs(deps, exchange)),
    gone: request.signal,
    stopping: deps.stopping,
  });
  return imagesReply(deps, task, { format, origin, headers, leave: accepted.leave });
}

/** The shortest wait of the server's, the key's and the caller's preference. */
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

/** How long until the default address cuts the request; the answer must come before. */
function untilEdgeMs(deps: CompatImageDeps, { edgeDeadline }: KeyedExchange): number {
  const deadline = edgeDeadline();
  return deadline === undefined ? Number.POSITIVE_INFINITY : Math.max(0, deadline - deps.elapsed());
}

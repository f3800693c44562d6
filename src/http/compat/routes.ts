import type { ResponseFormat } from "../../domain/access/key-policy.ts";
import type { JsonObject } from "../../domain/json.ts";
import { MAX_FORM_BYTES } from "../../domain/limits.ts";
import { formatAmount } from "../../domain/money/money.ts";
import type { GenerateSync } from "../../service/generate-sync.ts";
import { asVariation } from "../../service/image-variation.ts";
import type { InlineFiles } from "../../service/inline-files.ts";
import type { GivenUploads } from "../../service/paid-inputs.ts";
import type { PriceDeps } from "../../service/price-terms.ts";
import type { ModelDeps } from "../../service/read-model.ts";
import { FORM_OR_JSON, readJsonBody } from "../body.ts";
import { type Endpoint, type KeyedExchange, keyed, type LateAnswerDeps } from "../exchange.ts";
import { hopsOf } from "../hops.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import type { JsonBody } from "../read-json.ts";
import type { Reply } from "../reply.ts";
import { routingOf } from "../routing.ts";
import { requireStanding } from "../standing.ts";
import { whileStaying } from "../stays.ts";
import { acceptStaying, answerInTime, finishInTime, standingFor, waitOf } from "../waiting.ts";
import { imagesReply } from "./answer.ts";
import { atDeployment } from "./deployments.ts";
import { askedFacts } from "./made.ts";
import { readEditForm, readVariationForm } from "./read-form.ts";
import { type CompatBody, readEdit, readGeneration, responseFormatOf } from "./read-request.ts";
import { type StreamDeps, streamReply } from "./stream.ts";
import { EDIT_IMAGES, GENERATE_IMAGES, VARY_IMAGES } from "./wire.ts";

export interface CompatImageDeps extends StreamDeps, LateAnswerDeps {
  readonly generateSync: GenerateSync;
  /** The server's settings. */
  readonly sync: { readonly waitMs: number; readonly responseFormat: ResponseFormat };
}

const GENERATIONS = { path: "/compat/v1/images/generations", event: "image_generation" };
const OPTIONS = { feature: "compat", isCounted: true, sheds: "creates" } as const;
const VARIATIONS = { path: "/compat/v1/images/variations", event: "image_edit" };
const EDITS = { path: "/compat/v1/images/edits", event: "image_edit" };

/** POST /compat/v1/images/generations (docs/api.md 5.1) , /edits and /variations (docs/api.md 5.2). */
export function compatImageEndpoints(deps: CompatImageDeps & ModelDeps & PriceDeps): Endpoint[] {
  return [
    keyed("POST", GENERATIONS.path, GENERATE_IMAGES, OPTIONS, (exchange) =>
      answer(deps, exchange, async () => {
        const json = await readJsonBody(exchange, deps.assets);
        return callOf(json, readGeneration, GENERATIONS);
      }),
    ),
    keyed("POST", EDITS.path, EDIT_IMAGES, OPTIONS, async (exchange) => {
      const { request, intake } = exchange;
      if (!isForm(request)) {
        return answer(deps, exchange, async () => {
          const json = await readJsonBody(exchange, deps.assets, FORM_OR_JSON);
          return callOf(json, readEdit, EDITS);
        });
      }
      const { body, ...form } = await intake.receive(MAX_FORM_BYTES, (incoming) =>
        readEditForm(deps, exchange, incoming),
      );
      return answer(deps, exchange, async () => ({ ...body, ...EDITS, ...form }));
    }),
    keyed("POST", VARIATIONS.path, VARY_IMAGES, OPTIONS, (exchange) => vary(deps, exchange)),
  ];
}

async function vary(deps: CompatImageDeps & ModelDeps & PriceDeps, exchange: KeyedExchange): Promise<Reply> {
  const { intake, principal } = exchange;
  const { body, ...form } = await intake.receive(MAX_FORM_BYTES, (incoming) =>
    readVariationForm(deps, exchange, incoming),
  );
  return answer(deps, exchange, async () => {
    const { responseFormat } = body;
    try {
      const asked = asVariation(deps, principal, body.request);
      return { ...VARIATIONS, ...form, responseFormat, isStream: false, request: asked };
    } catch (error) {
      await form.release();
      throw error;
    }
  });
}

function isForm(request: Request): boolean {
  return /^\s*multipart\/form-data\b/i.test(request.headers.get("content-type") ?? "");
}

interface Call extends CompatBody {
  /** The prefix of its events' names. */
  readonly event: string;
  readonly path: string;
  readonly identity: JsonObject;
  readonly uploads?: GivenUploads | undefined;
  readonly inlineFiles?: InlineFiles | undefined;
  /** Releases the files; files that a task uses stay. */
  release(): Promise<void>;
}

/** A call that came as JSON. */
async function callOf(
  { body, inlineFiles, discard }: JsonBody,
  read: (body: JsonObject) => CompatBody,
  where: Pick<Call, "event" | "path">,
): Promise<Call> {
  try {
    return { ...read(body), ...where, identity: body, inlineFiles, release: async () => discard?.() };
  } catch (error) {
    await discard?.();
    throw error;
  }
}

/** @param read reads the call; its memory is freed before the wait begins */
async function answer(deps: CompatImageDeps, exchange: KeyedExchange, read: () => Promise<Call>) {
  const { leave, accepted } = await read().then((call) =>
    stay(deps, exchange, atDeployment(exchange.path, call)),
  );
  return whileStaying(leave, () => finish(deps, exchange, accepted));
}

/** Accepts a call if there is a place for it, and takes the place. */
function stay(deps: CompatImageDeps, exchange: KeyedExchange, call: Call) {
  return acceptStaying(exchange, call.isStream ? "streams" : "waits", call, () =>
    generate(deps, exchange, call),
  );
}

/** How to answer a call whose task is accepted. Everything else about the call is freed. */
type Accepted = Awaited<ReturnType<typeof generate>>;

async function generate(deps: CompatImageDeps, exchange: KeyedExchange, call: Call) {
  const { request, principal, requestId, origin } = exchange;
  requireStanding(exchange.standing);
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
    idempotencyKey: idempotencyKeyOf(request),
    hops: hopsOf(request),
    routing: routingOf(request),
    trace: exchange.trace,
    gone: () => request.signal,
  });
  const { event, isStream } = call;
  const asked = askedFacts(call.request.fields);
  return { event, isStream, asked, sent: askedFacts(task.sent), format, task };
}

async function finish(
  deps: CompatImageDeps,
  exchange: KeyedExchange,
  { event, isStream, asked, sent, format, task: accepted }: Accepted,
): Promise<Reply> {
  const { request, requestId, origin } = exchange;
  const standing = standingFor(exchange, accepted);
  const { waitMs, headers } = waitOf(deps, exchange);
  if (accepted.replayed) headers["X-Idempotent-Replay"] = "true";
  // A stream starts to wait when it is read. If the caller is gone before that, nothing else would mark the task as left.
  if (isStream && !request.signal.aborted) {
    if (accepted.held !== undefined) headers["X-Request-Cost"] = formatAmount(accepted.held);
    const { taskId, finish, leave } = accepted;
    const until = { waitMs, stopping: deps.stopping };
    return streamReply(deps, {
      ...{
        event,
        taskId,
        requestId,
        asked,
        sent,
        format,
        origin,
        headers,
        leave,
        standing,
        gone: request.signal,
      },
      finish: (gone) => finish({ ...until, gone }),
    });
  }
  const task = await finishInTime(deps, exchange, accepted, { waitMs, standing });
  const form = { format, origin, headers, asked, sent, leave: accepted.leave };
  return answerInTime(deps, exchange, accepted, () => imagesReply(deps, task, form));
}

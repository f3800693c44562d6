import { isId } from "../../domain/ids.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import {
  type Output,
  type PollResult,
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
  type Submitted,
  type Tested,
} from "../../domain/ports/provider.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import type { DownloadingDeps } from "../kit/adapter-deps.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import {
  answerWithout,
  isOfAnother,
  refusedSubmission,
  retryAfterMs,
  unansweredQuestion,
  unansweredSubmission,
} from "../kit/classify.ts";
import { hookFor } from "../kit/hooks.ts";
import { hopHeaders } from "../kit/hops.ts";
import { createUpstream, type HttpLimits, type Upstream } from "../kit/http.ts";
import { beforeSending } from "../kit/inputs.ts";
import type { Restarts } from "../kit/keyed-settings.ts";
import { fetchFromAnywhere } from "../kit/media.ts";
import { refusedByQuestion } from "../kit/refusal.ts";
import { testedBy, testedByError } from "../kit/tested.ts";
import { failedTask, readError, readRefusal } from "./refusals.ts";
import { toCreate } from "./request.ts";
import { readMicros, readOutputs } from "./result.ts";
import { SVC } from "./settings.ts";

export interface SvcDeps extends DownloadingDeps {
  /** `sk-svc-…`. */
  readonly apiKey: string;
  readonly restarts?: Restarts | undefined;
}

/** Tasks are accepted at once; what takes time is to upload the inputs. */
const LIMITS: HttpLimits = { connectMs: 15_000, answerMs: 120_000, bodyMs: 30_000 };
const ANSWER_BYTES = 8 * 1024 * 1024;

/** A task there. */
interface Job {
  readonly kind: TaskKind;
  readonly id: string;
}

/** Another instance of this service: its tasks are created, polled and cancelled, and their files fetched. */
export function createSvcProvider(deps: SvcDeps): ProviderAdapter {
  const { apiKey, clock } = deps;
  const baseUrl = deps.baseUrl.replace(/\/+$/, "");
  const upstream = createUpstream({
    ...{ name: SVC.title, baseUrl, clock, secrets: [apiKey] },
    ...{ proxy: deps.proxy, network: deps.network },
    credentials: { Authorization: `Bearer ${apiKey}` },
    limits: deps.limits ?? LIMITS,
  });
  const media = { upstream, hosts: [], limits: deps.mediaLimits };
  return {
    id: SVC.id,
    lane: deps.lane ?? SVC.id,
    rates: deps.rates,
    // It stores the answer of a create for a week under its key, so a task that is sent twice is made and charged once.
    submitIsIdempotent: true,
    repeatIsSafe: deps.restarts === "safe",
    concurrency: deps.concurrency,
    submit: (request, signal) =>
      submit(upstream, { ...request, hookUrl: hookFor(baseUrl, request.hookUrl) }, signal),
    poll: async (operation, signal) => poll(upstream, jobOf(operation), signal),
    async cancel(operation, signal) {
      const url = `/v1/tasks/${jobOf(operation).id}/cancel`;
      const answer = await upstream
        .send({ method: "POST", url, maxBytes: ANSWER_BYTES }, signal)
        .catch(unansweredQuestion);
      // 409: it has ended; 404: it is unknown. The next poll tells which.
      if (answer.status > 299 && answer.status !== 409 && answer.status !== 404)
        throw noWord(upstream, answer);
    },
    async fetchOutput(ref, signal) {
      const { path, kind } = isJsonObject(ref) ? ref : {};
      if (typeof path !== "string" || !path.startsWith("/assets/") || (kind !== "image" && kind !== "video"))
        throw new ProviderError("fail", "FINALIZATION_FAILED", `${SVC.title}: no such output`);
      const file = { url: baseUrl + path, maxBytes: MAX_OUTPUT_BYTES[kind] };
      return fetchFromAnywhere(media, deps.fetchPublic, file, signal);
    },
    models: (signal) => listModels(upstream, signal),
    test: (signal) => testKey(upstream, signal),
  };
}

async function submit(upstream: Upstream, request: SubmitRequest, signal: AbortSignal): Promise<Submitted> {
  signal.throwIfAborted();
  const { hookUrl } = request;
  const body = await beforeSending(() => toCreate(request));
  const hooked = hookUrl === undefined ? body : { ...body, callback_url: hookUrl };
  const first = await create(upstream, request, hooked, signal);
  if (hookUrl === undefined || !isOfHook(first)) return read(upstream, request, first, hookUrl !== undefined);
  // It does not call such an address. What it may have taken before, it took without one too.
  return read(upstream, request, await create(upstream, request, body, signal), false);
}

async function create(
  upstream: Upstream,
  request: SubmitRequest,
  body: JsonObject,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const sent = upstream.send(
    {
      method: "POST",
      url: `/v1/${request.request.kind}s/generations`,
      headers: { ...hopHeaders(request), "Idempotency-Key": request.attempt },
      body: { type: "application/json", bytes: new TextEncoder().encode(JSON.stringify(body)) },
      maxBytes: ANSWER_BYTES,
      tracing: request.tracing,
    },
    signal,
  );
  return await sent.catch(unansweredSubmission);
}

/** Whether a create is refused for its `callback_url`, or because it was taken without one before. */
function isOfHook(answer: UpstreamAnswer): boolean {
  const { code, param } = readError(answer);
  return code === "idempotency_conflict" || (code === "invalid_request" && param === "callback_url");
}

function read(
  upstream: Upstream,
  request: SubmitRequest,
  answer: UpstreamAnswer,
  isHooked: boolean,
): Submitted {
  if (answer.status < 200 || answer.status > 299) throw refusedSubmission(readRefusal(upstream, answer));
  const id = dataOf(answer)?.task_id;
  if (typeof id !== "string" || !isId("task", id)) throw answerWithout(upstream, answer, "task_id");
  return {
    kind: "operation",
    operation: { id, kind: request.request.kind },
    jobId: upstream.scrub(id),
    isHooked,
  };
}

async function poll(upstream: Upstream, { id, kind }: Job, signal: AbortSignal): Promise<PollResult> {
  const request = { method: "GET", url: `/v1/${kind}s/status/${id}`, maxBytes: ANSWER_BYTES } as const;
  const answer = await upstream.send(request, signal).catch(unansweredQuestion);
  const data = dataOf(answer);
  if (answer.status === 404 && readError(answer).code === "task_not_found")
    return {
      kind: "failed",
      code: "UPSTREAM_ERROR",
      detail: `${SVC.title}: the task is unknown there`,
      isLost: true,
    };
  if (answer.status > 299 || data === undefined) throw noWord(upstream, answer);
  if (isOfAnother(data.task_id, id)) throw noWord(upstream, answer, "about another task");
  const { status, progress } = data;
  switch (status) {
    case "completed":
      return {
        kind: "succeeded",
        outputs: outputsOf(upstream, answer, data, kind),
        costMicros: readMicros(isJsonObject(data.usage) ? data.usage.cost : undefined),
      };
    case "failed":
      return failedTask(upstream, data);
    case "cancelled":
      return { kind: "cancelled" };
    default:
      if (typeof status !== "string") throw noWord(upstream, answer);
      return { kind: "pending", ...(typeof progress === "number" && { progress }) };
  }
}

function outputsOf(
  upstream: Upstream,
  answer: UpstreamAnswer,
  data: JsonObject,
  kind: TaskKind,
): readonly Output[] {
  const outputs = readOutputs(data, kind);
  if (outputs !== undefined) return outputs;
  throw answerWithout(upstream, answer, "result that can be read");
}

/** What the key may use, and is made there at present. @throws ProviderError */
async function listModels(upstream: Upstream, signal: AbortSignal): Promise<readonly string[]> {
  const request = { method: "GET", url: "/v1/models", maxBytes: ANSWER_BYTES } as const;
  const answer = await upstream.send(request, signal).catch(unansweredQuestion);
  const models = dataOf(answer)?.models;
  if (answer.status > 299 || !Array.isArray(models)) throw noWord(upstream, answer, "with no list of models");
  return models.flatMap((each) =>
    isJsonObject(each) && typeof each.id === "string" && each.available !== false ? each.id : [],
  );
}

/** Proves the key by reading what it may do. The call is free and not counted. */
async function testKey(upstream: Upstream, signal: AbortSignal): Promise<Tested> {
  try {
    const request = { method: "GET", url: "/v1/account/status", maxBytes: ANSWER_BYTES } as const;
    const answer = await upstream.send(request, signal);
    const data = dataOf(answer);
    if (answer.status !== 200 || data === undefined) return testedBy(readRefusal(upstream, answer));
    const { available } = isJsonObject(data.balance) ? data.balance : {};
    const balanceMicros = readMicros(available);
    return { kind: "ok", ...(balanceMicros !== undefined && { balanceMicros }) };
  } catch (error) {
    signal.throwIfAborted();
    return testedByError(error);
  }
}

function dataOf({ json }: Pick<UpstreamAnswer, "json">): JsonObject | undefined {
  return isJsonObject(json) && isJsonObject(json.data) ? json.data : undefined;
}

/** The answer does not contain what was requested: poll again later. */
function noWord(
  upstream: Upstream,
  answer: UpstreamAnswer,
  lack = "with no word on the task",
): ProviderError {
  const refusal = readRefusal(upstream, answer);
  return new ProviderError("retry", "UPSTREAM_ERROR", `${refusal.detail}, ${lack}`, {
    retryAfterMs: retryAfterMs(answer.headers),
    refused: refusedByQuestion(refusal),
    isTooOften: answer.status === 429,
  });
}

function jobOf(operation: Json): Job {
  const { id, kind } = isJsonObject(operation) ? operation : {};
  if (typeof id === "string" && isId("task", id) && (kind === "image" || kind === "video"))
    return { id, kind };
  throw new ProviderError("fail", "UPSTREAM_ERROR", `${SVC.title}: this is no task of another instance`);
}

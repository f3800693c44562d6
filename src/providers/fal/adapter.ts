import { isJsonObject, type Json } from "../../domain/json.ts";
import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import {
  type PollResult,
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
  type Submitted,
} from "../../domain/ports/provider.ts";
import type { DownloadingDeps } from "../kit/adapter-deps.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import {
  answerWithout,
  describeAnswer,
  failedJob,
  isOfAnother,
  meaningOfStatus,
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
import { type Refusal, refusedByQuestion } from "../kit/refusal.ts";
import { verifyEd25519 } from "../kit/signed-calls.ts";
import { type FalJob, openOperation, readOperation } from "./operation.ts";
import { isUnknownJob, readFailure, readRefusal } from "./refusals.ts";
import { toUpstreamRequest } from "./request.ts";
import { isResult, readResult } from "./result.ts";
import { FAL, FAL_QUEUE } from "./settings.ts";

export interface FalDeps extends DownloadingDeps {
  /** `<id>:<secret>`. */
  readonly apiKey: string;
  /** The queue's address. */
  readonly baseUrl: string;
  readonly restarts?: Restarts | undefined;
}

/** The queue answers at once; what takes time is to upload the inputs. */
const LIMITS: HttpLimits = { connectMs: 15_000, answerMs: 120_000, bodyMs: 30_000 };
/** Where the queue's outputs are, besides its own origin (https://docs.fal.ai/documentation/model-apis/fal-cdn, 2026-11). */
const MEDIA_HOSTS = ["fal.media", "*.fal.media"];
/** Of an answer of the queue: addresses and logs, and pictures only when they came inline. */
const ANSWER_BYTES = 32 * 1024 * 1024;
/** How its calls are signed (https://fal.ai/docs/documentation/model-apis/inference/webhooks, 2026-11). */
const SIGNED_CALLS = {
  keys: "https://rest.fal.ai/.well-known/jwks.json",
  signed: ["x-fal-webhook-request-id", "x-fal-webhook-user-id", "x-fal-webhook-timestamp"],
  signature: "x-fal-webhook-signature",
} as const;
/** A job younger than this may be unknown because the queue's servers have not all heard of it. */
const SETTLED_MS = 60_000;

/** fal.ai's queue: jobs are submitted, polled, fetched and cancelled. */
export function createFalProvider(deps: FalDeps): ProviderAdapter {
  const { apiKey, clock } = deps;
  const upstream = createUpstream({
    name: FAL.title,
    baseUrl: deps.baseUrl,
    credentials: { Authorization: `Key ${apiKey}` },
    secrets: [apiKey, ...apiKey.split(":")],
    clock,
    limits: deps.limits ?? LIMITS,
    ...{ proxy: deps.proxy, network: deps.network },
    requestIdHeaders: ["x-request-id", "x-fal-request-id"],
  });
  // Any other service that speaks its API has other keys.
  const isFal = deps.baseUrl === FAL_QUEUE;
  const media = { upstream, hosts: MEDIA_HOSTS, limits: deps.mediaLimits };
  return {
    id: FAL.id,
    lane: deps.lane ?? FAL.id,
    rates: deps.rates,
    // Its queue takes no idempotency key: a job that is sent twice is made and charged twice.
    submitIsIdempotent: false,
    repeatIsSafe: deps.restarts === "safe",
    concurrency: deps.concurrency,
    submit: (request, signal) =>
      submit(upstream, { ...request, hookUrl: hookFor(deps.baseUrl, request.hookUrl) }, signal),
    ...(isFal && deps.fetchPublic !== undefined
      ? { verifyHook: verifyEd25519(SIGNED_CALLS, { clock, fetchPublic: deps.fetchPublic }) }
      : {}),
    poll: async (handle, signal) => poll(upstream, jobOf(upstream, handle), signal),
    async cancel(handle, signal) {
      const { cancelUrl } = jobOf(upstream, handle);
      const answer = await ask(upstream, "PUT", cancelUrl, signal);
      // 400: already over; 404: unknown. The next poll tells which.
      if (answer.status > 299 && answer.status !== 400 && answer.status !== 404)
        throw noWord(upstream, answer);
    },
    async fetchOutput(ref, signal) {
      const { url, kind } = isJsonObject(ref) ? ref : {};
      if (typeof url !== "string" || (kind !== "image" && kind !== "video")) {
        throw new ProviderError("fail", "FINALIZATION_FAILED", "fal: no such output");
      }
      const file = { url, maxBytes: MAX_OUTPUT_BYTES[kind] };
      return fetchFromAnywhere(media, deps.fetchPublic, file, signal);
    },
  };
}

async function submit(upstream: Upstream, request: SubmitRequest, signal: AbortSignal): Promise<Submitted> {
  signal.throwIfAborted();
  const { endpoint, input } = await beforeSending(() => toUpstreamRequest(request));
  const body = { type: "application/json", bytes: new TextEncoder().encode(JSON.stringify(input)) };
  const { hookUrl, tracing } = request;
  const url = `/${endpoint}${hookUrl === undefined ? "" : `?${new URLSearchParams({ fal_webhook: hookUrl })}`}`;
  const sent = upstream.send(
    {
      ...{ method: "POST", url, headers: hopHeaders(request), body, maxBytes: ANSWER_BYTES },
      tracing,
    },
    signal,
  );
  const answer = await sent.catch(unansweredSubmission);
  if (answer.status < 200 || answer.status > 299) throw refusedSubmission(readRefusal(upstream, answer));
  const taken = openOperation(upstream, { endpoint, kind: request.request.kind }, answer.json);
  if (taken !== undefined) return { kind: "operation", ...taken, isHooked: hookUrl !== undefined };
  throw answerWithout(upstream, answer, "request_id");
}

async function poll(upstream: Upstream, job: FalJob, signal: AbortSignal): Promise<PollResult> {
  const answer = await ask(upstream, "GET", job.statusUrl, signal);
  if (answer.status === 404) return lost(upstream, job, answer, signal);
  if (answer.status > 299 || !isJsonObject(answer.json)) throw noWord(upstream, answer);
  const { status, request_id } = answer.json;
  if (typeof status !== "string" || isOfAnother(request_id, job.id)) throw noWord(upstream, answer);
  // Also for an undocumented status, from which neither success nor failure follows.
  if (status !== "COMPLETED") return { kind: "pending" };
  const failure = readFailure(upstream, answer);
  if (failure !== undefined && failure.meaning !== "broken") return failedJob(failure);
  const outcome = await ask(upstream, "GET", job.responseUrl, signal);
  // It has just said that it knows the job.
  if (failure === undefined && isUnknownJob(outcome)) throw noWord(upstream, outcome);
  return readOutcome(upstream, job, outcome, failure);
}

/** @param told what the status already said of a failure, which the model's own answer may say better */
function readOutcome(upstream: Upstream, job: FalJob, answer: UpstreamAnswer, told?: Refusal): PollResult {
  if (answer.status >= 200 && answer.status <= 299) {
    if (told !== undefined) return failedJob(told);
    if (!isJsonObject(answer.json) || !isResult(answer.json)) throw answerWithout(upstream, answer, "result");
    return readResult(answer.json, answer, job.kind);
  }
  // A model's own failure comes with the model's status. A temporary problem of the queue has none of the model's words.
  const failure = isUnknownJob(answer) ? told : (readFailure(upstream, answer) ?? told);
  if (failure !== undefined) return failedJob(failure);
  if (!isLost(upstream, job, answer)) throw noWord(upstream, answer);
  return {
    kind: "failed",
    code: "UPSTREAM_ERROR",
    message: "The provider no longer has this job.",
    isLost: true,
  };
}

/** The queue does not know the job. Certain when it says so itself, of the result too, and not just after the submission. */
async function lost(
  upstream: Upstream,
  job: FalJob,
  first: UpstreamAnswer,
  signal: AbortSignal,
): Promise<PollResult> {
  if (!isLost(upstream, job, first)) throw noWord(upstream, first);
  return readOutcome(upstream, job, await ask(upstream, "GET", job.responseUrl, signal));
}

function isLost({ clock }: Upstream, { submittedAt }: FalJob, answer: UpstreamAnswer): boolean {
  // The clock may have been set since, so a job from the future counts as old.
  return isUnknownJob(answer) && Math.abs(clock.now() - submittedAt) >= SETTLED_MS;
}

function ask(upstream: Upstream, method: "GET" | "PUT", url: string, signal: AbortSignal) {
  return upstream.send({ method, url, maxBytes: ANSWER_BYTES }, signal).catch(unansweredQuestion);
}

/** The answer says nothing about the job: poll again later. */
function noWord(upstream: Upstream, answer: UpstreamAnswer): ProviderError {
  const detail = describeAnswer(upstream, answer, { word: "with no word on the job" });
  const { status } = answer;
  return new ProviderError("retry", "UPSTREAM_ERROR", detail, {
    retryAfterMs: retryAfterMs(answer.headers),
    refused: refusedByQuestion({ meaning: meaningOfStatus(status), status }),
    isTooOften: status === 429,
  });
}

function jobOf(upstream: Upstream, handle: Json): FalJob {
  const job = readOperation(upstream, handle);
  if (job !== undefined) return job;
  throw new ProviderError("fail", "UPSTREAM_ERROR", "fal: this is no operation of its queue");
}

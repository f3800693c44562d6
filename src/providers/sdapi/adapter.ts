import { isJsonObject } from "../../domain/json.ts";
import {
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
  type Submitted,
  type Tested,
} from "../../domain/ports/provider.ts";
import type { AdapterDeps } from "../kit/adapter-deps.ts";
import {
  failedJob,
  refusedSubmission,
  unansweredQuestion,
  unansweredSubmission,
  unusableAnswer,
} from "../kit/classify.ts";
import { hopHeaders } from "../kit/hops.ts";
import { createUpstream, type HttpLimits, NoAnswer, type Upstream } from "../kit/http.ts";
import { beforeSending } from "../kit/inputs.ts";
import { consequenceOf, type Refusal } from "../kit/refusal.ts";
import { testedBy, testedByError } from "../kit/tested.ts";
import { type Answers, createAnswers, type Ending } from "./answers.ts";
import { type Checkpoints, createCheckpoints, setupOf } from "./checkpoints.ts";
import { createJobs, type Jobs, LOST, operationOf } from "./jobs.ts";
import { readRefusal } from "./refusals.ts";
import { type SdCall, toSdCall, withCheckpoint } from "./request.ts";
import { readPictures } from "./result.ts";
import { createServer, type Server } from "./server.ts";
import { SDAPI } from "./settings.ts";

export interface SdApiDeps extends AdapterDeps {
  /** `user:password` of `--api-auth`, or a token for what stands before the server. */
  readonly apiKey?: string | undefined;
  /** `http://127.0.0.1:7860` */
  readonly baseUrl: string;
  /** Nobody else uses the server. */
  readonly isExclusive: boolean;
  /** Outputs that were lost with their answer may be made again. */
  readonly mayRepeat: boolean;
  /** How long a submission waits for its answer itself; later it is asked for as a job. */
  readonly waitMs?: number | undefined;
}

/** The answer comes once the pictures are made, behind all that others have asked for. */
const LIMITS: HttpLimits = { connectMs: 15_000, answerMs: 6 * 3_600_000, bodyMs: 300_000 };
/** What is wrong with a request is said at once. */
const WAIT_MS = 1_000;
const MIB = 1024 * 1024;
/** Limit of an answer for each picture, one for a grid included: 24 MiB as base64. */
const ANSWER_BYTES_EACH = 32 * MIB;

/** The API of AUTOMATIC1111's web UI, and of servers that speak it. One request is open until its pictures are made. */
export function createSdApiProvider(deps: SdApiDeps): ProviderAdapter {
  const { apiKey, clock } = deps;
  const upstream = createUpstream({
    name: SDAPI.title,
    baseUrl: deps.baseUrl,
    credentials: apiKey === undefined ? {} : { Authorization: authorization(apiKey) },
    secrets: apiKey === undefined ? [] : [apiKey, Buffer.from(apiKey).toString("base64")],
    clock,
    limits: deps.limits ?? LIMITS,
    ...{ proxy: deps.proxy, network: deps.network },
  });
  const server = createServer(upstream);
  const answers = createAnswers(clock);
  const jobs = createJobs({ server, answers, ...deps });
  const checkpoints = createCheckpoints(upstream);
  const stopping = new AbortController();
  const { waitMs = WAIT_MS } = deps;
  const parts: Parts = { upstream, server, answers, jobs, checkpoints, stopping, waitMs };
  return {
    id: SDAPI.id,
    lane: deps.lane ?? SDAPI.id,
    rates: deps.rates,
    // A task that is sent twice is made twice, even under one id.
    submitIsIdempotent: false,
    // What is told as lost was never made, or may be made again.
    repeatIsSafe: true,
    concurrency: deps.concurrency,
    setupOf,
    async submit(request, signal) {
      if (stopping.signal.aborted) throw new Error(`${SDAPI.title}: the adapter was stopped`);
      return submit(parts, request, signal);
    },
    poll: jobs.poll,
    cancel: jobs.cancel,
    recover: jobs.recover,
    async lacks({ upstreamModel }, signal) {
      const lack = await checkpoints.lack(upstreamModel, signal).catch(unansweredQuestion);
      return lack === undefined ? [] : [lack];
    },
    test: (signal) => test(upstream, signal),
    async stop() {
      stopping.abort(new Error("The service is stopping."));
    },
  };
}

interface Parts {
  readonly upstream: Upstream;
  readonly server: Server;
  readonly answers: Answers;
  readonly jobs: Jobs;
  readonly checkpoints: Checkpoints;
  readonly stopping: AbortController;
  readonly waitMs: number;
}

/** Those of `--api-auth` are Basic; a token without a colon is for a proxy. */
function authorization(key: string): string {
  return key.includes(":") ? `Basic ${Buffer.from(key).toString("base64")}` : `Bearer ${key}`;
}

async function submit(parts: Parts, request: SubmitRequest, signal: AbortSignal): Promise<Submitted> {
  signal.throwIfAborted();
  const { answers, jobs, checkpoints, upstream } = parts;
  const { attempt, upstreamModel } = request;
  const worded = await beforeSending(() => toSdCall(request));
  const title = await checkpoints.resolve(upstreamModel, signal).catch(notSent);
  if (typeof title === "object") throw refusedSubmission(title);
  const call = title === undefined ? worded : withCheckpoint(worded, title);
  await jobs.quiet();
  signal.throwIfAborted();
  const sending = new AbortController();
  const abort = () => sending.abort(signal.reason);
  signal.addEventListener("abort", abort);
  const answer = send(parts, request, call, AbortSignal.any([sending.signal, parts.stopping.signal]));
  answers.follow(attempt, answer.then(endingOf, endingByError));
  let cancelWait = () => {};
  const waited = new Promise<undefined>((resolve) => {
    cancelWait = upstream.clock.after(parts.waitMs, () => resolve(undefined));
  });
  try {
    const outcome = await Promise.race([answer, waited]);
    if (outcome === undefined) return { kind: "operation", operation: operationOf(attempt), jobId: attempt };
    answers.forget(attempt);
    if (outcome.kind === "refused") throw refusedSubmission(outcome.refusal);
    if (outcome.kind === "interrupted") throw unusableAnswer(`${upstream.name}: it was interrupted there`);
    return outcome;
  } catch (error) {
    answers.forget(attempt);
    return unansweredSubmission(error);
  } finally {
    cancelWait();
    signal.removeEventListener("abort", abort);
  }
}

/** A server that does not say what it has is asked for nothing. */
function notSent(error: unknown): never {
  if (!(error instanceof NoAnswer)) throw error;
  throw new ProviderError("retry", "UPSTREAM_ERROR", error.message);
}

type Outcome =
  | (Submitted & { readonly kind: "outputs" })
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "interrupted" };

/** @throws NoAnswer, ProviderError */
async function send(
  { upstream, server, checkpoints }: Parts,
  request: SubmitRequest,
  { path, content, size }: SdCall,
  signal: AbortSignal,
): Promise<Outcome> {
  const {
    tracing,
    upstreamModel,
    request: { n },
  } = request;
  const body = { type: "application/json", bytes: new TextEncoder().encode(JSON.stringify(content)) };
  const maxBytes = MIB + (n + 1) * ANSWER_BYTES_EACH;
  const headers = hopHeaders(request);
  const answer = await upstream.send({ method: "POST", url: path, headers, body, maxBytes, tracing }, signal);
  if (answer.status < 200 || answer.status > 299)
    return { kind: "refused", refusal: readRefusal(upstream, answer) };
  const { outputs, info } = readPictures(upstream, answer, { n, size });
  if (!checkpoints.isUsed(upstreamModel, info)) {
    const used = typeof info.sd_model_name === "string" ? info.sd_model_name : "another one";
    const detail = upstream.scrub(`${upstream.name} used ${used} instead of the checkpoint ${upstreamModel}`);
    return { kind: "refused", refusal: { meaning: "refused", detail, status: 404 } };
  }
  if (await server.wasInterrupted(signal)) return { kind: "interrupted" };
  return { kind: "outputs", outputs };
}

/** How a request ended after its submission was over. */
function endingOf(outcome: Outcome): Ending {
  if (outcome.kind === "refused") {
    // A proxy in front of the server may have stopped waiting.
    const isUnclear = consequenceOf(outcome.refusal.meaning).disposition === "unknown";
    return isUnclear ? { kind: "cut" } : failedJob(outcome.refusal);
  }
  if (outcome.kind === "interrupted") return { kind: "cancelled" };
  return { ...outcome, kind: "succeeded" };
}

function endingByError(error: unknown): Ending {
  if (error instanceof NoAnswer && error.isUnsent) return LOST;
  if (!(error instanceof ProviderError)) return { kind: "cut" };
  return { kind: "failed", code: error.code, message: error.publicMessage, detail: error.message };
}

/** Asks for the checkpoints, which needs the key where there is one. */
async function test(upstream: Upstream, signal: AbortSignal): Promise<Tested> {
  try {
    const request = { method: "GET", url: "/sdapi/v1/sd-models", maxBytes: 16 * MIB } as const;
    const answer = await upstream.send(request, signal);
    const isList = answer.status === 200 && Array.isArray(answer.json) && answer.json.every(isJsonObject);
    return isList ? { kind: "ok" } : testedBy(readRefusal(upstream, answer));
  } catch (error) {
    signal.throwIfAborted();
    return testedByError(error);
  }
}

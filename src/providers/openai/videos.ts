import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import type { Wording } from "../../domain/model/wording.ts";
import type { Egress } from "../../domain/ports/egress.ts";
import {
  type PollResult,
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
  type Submitted,
} from "../../domain/ports/provider.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import {
  answerWithout,
  describeAnswer,
  failedJob,
  meaningOfStatus,
  refusedSubmission,
  retryAfterMs,
  unansweredQuestion,
  unansweredSubmission,
} from "../kit/classify.ts";
import { hopHeaders } from "../kit/hops.ts";
import type { Upstream } from "../kit/http.ts";
import { beforeSending } from "../kit/inputs.ts";
import { fetchFromAnywhere, type MediaSource } from "../kit/media.ts";
import { refusedByQuestion } from "../kit/refusal.ts";
import { wordRequest } from "../kit/wording.ts";
import { readJobFailure, readRefusal } from "./refusals.ts";
import { type FormFile, toForm } from "./request.ts";

/** More than any record of a job has. */
const ANSWER_BYTES = 8 * 1024 * 1024;
/** A job younger than this may be unknown because word of it has not got round. */
const SETTLED_MS = 60_000;
/** Ids of deleted jobs that are remembered until their cancelled tasks have asked. */
const MOST_DELETED = 1_000;

/** The names that the API has for what every video model takes. A route's own wording counts more. */
const WORDING = {
  parameters: { duration: { field: "seconds" } },
  inputs: { first_frame: { field: "input_reference", isList: false } },
} as const satisfies Wording;

/**
 * The videos API as OpenAI defined it and others serve it (vLLM-Omni, gateways): a form that makes a job, a record that is asked
 * after, a file behind the key, which may be redirected to a bucket. Deleting a job that runs ends it.
 */
export function createVideos(
  media: MediaSource,
  baseUrl: string,
  fetchPublic?: Egress["fetchMedia"],
): Required<Pick<ProviderAdapter, "submit" | "poll" | "cancel" | "fetchOutput">> {
  const { upstream } = media;
  const deleted = new Set<string>();
  const files = { ...media, withKey: true };
  return {
    submit: (request, signal) => submit(upstream, request, signal),
    async poll(handle, signal) {
      const job = readJob(handle);
      const answer = await ask(upstream, "GET", job, signal);
      if (answer.status === 404 && deleted.has(job.id)) return { kind: "cancelled" };
      return readRecord(upstream, job, answer);
    },
    async cancel(handle, signal) {
      const job = readJob(handle);
      const { status, json } = await ask(upstream, "GET", job, signal);
      // Cancelling would delete a finished video. The next poll tells the meaning of any other answer.
      if (status > 299 || !isJsonObject(json) || isOver(json.status)) return;
      const answer = await ask(upstream, "DELETE", job, signal);
      if (answer.status === 404) return;
      if (answer.status > 299) throw noWord(upstream, answer);
      remember(deleted, job.id);
    },
    async fetchOutput(ref, signal) {
      const id = isJsonObject(ref) ? ref.video : undefined;
      if (!isId(id)) throw new ProviderError("fail", "FINALIZATION_FAILED", "OpenAI: no such video");
      const url = `${baseUrl.replace(/\/+$/, "")}${pathOf(id)}/content`;
      return fetchFromAnywhere(files, fetchPublic, { url, maxBytes: MAX_OUTPUT_BYTES.video }, signal);
    },
  };
}

async function submit(upstream: Upstream, request: SubmitRequest, signal: AbortSignal): Promise<Submitted> {
  signal.throwIfAborted();
  const body = await beforeSending(() => toVideoForm(request));
  const headers = { ...hopHeaders(request), "Idempotency-Key": request.attempt };
  const { tracing } = request;
  const sent = upstream.send(
    { method: "POST", url: "/videos", headers, body, maxBytes: ANSWER_BYTES, tracing },
    signal,
  );
  const answer = await sent.catch(unansweredSubmission);
  if (answer.status < 200 || answer.status > 299) throw refusedSubmission(readRefusal(upstream, answer));
  const id = isJsonObject(answer.json) ? answer.json.id : undefined;
  if (!isId(id)) throw answerWithout(upstream, answer, "id of a video");
  const operation = { video: id, submitted_at: upstream.clock.now() };
  return { kind: "operation", operation, jobId: upstream.scrub(id) };
}

/** Words a request as its route says. Files keep the order of the inputs. */
async function toVideoForm(submission: SubmitRequest) {
  const { wording = {} } = submission;
  const { endpoint, fields, inputs } = wordRequest({
    ...submission,
    wording: {
      ...wording,
      parameters: { ...WORDING.parameters, ...wording.parameters },
      inputs: { ...WORDING.inputs, ...wording.inputs },
    },
  });
  const files = inputs.flatMap(({ field, isList, files: each }) =>
    each.map((file): FormFile => ({ field: isList ? `${field}[]` : field, file })),
  );
  return toForm({ model: endpoint, ...fields }, files);
}

function readRecord(upstream: Upstream, job: VideoJob, answer: UpstreamAnswer): PollResult {
  const { status: code, json } = answer;
  if (code === 404 && isJsonObject(json) && isSettled(upstream, job)) {
    return {
      kind: "failed",
      code: "UPSTREAM_ERROR",
      message: "The provider no longer has this job.",
      isLost: true,
    };
  }
  if (code > 299 || !isJsonObject(json) || typeof json.status !== "string") throw noWord(upstream, answer);
  switch (json.status) {
    case "completed":
      return { kind: "succeeded", outputs: [{ kind: "remote", ref: { video: job.id } }] };
    case "failed":
      return failedJob(readJobFailure(upstream, answer, isJsonObject(json.error) ? json.error : {}));
    case "cancelled":
    case "canceled":
      return { kind: "cancelled" };
    // Also a status that nobody has told us of: neither success nor failure follows from it.
    default:
      return { kind: "pending", progress: percentOf(json) };
  }
}

const OVER: ReadonlySet<Json | undefined> = new Set(["completed", "failed", "cancelled", "canceled"]);

const isOver = (status: Json | undefined) => OVER.has(status);

function percentOf({ progress }: JsonObject): number | undefined {
  return typeof progress === "number" && progress >= 0 && progress <= 100 ? progress : undefined;
}

function isSettled({ clock }: Upstream, { submittedAt }: VideoJob): boolean {
  // The clock may have been set since: a job from the future is an old one.
  return Math.abs(clock.now() - submittedAt) >= SETTLED_MS;
}

function ask(upstream: Upstream, method: "GET" | "DELETE", job: VideoJob, signal: AbortSignal) {
  return upstream
    .send({ method, url: pathOf(job.id), maxBytes: ANSWER_BYTES }, signal)
    .catch(unansweredQuestion);
}

/** An answer that says nothing of the job: ask again later. */
function noWord(upstream: Upstream, answer: UpstreamAnswer): ProviderError {
  const detail = describeAnswer(upstream, answer, { word: "with no word on the video" });
  const { status } = answer;
  const details = {
    retryAfterMs: retryAfterMs(answer.headers),
    refused: refusedByQuestion({ meaning: meaningOfStatus(status), status }),
    isTooOften: status === 429,
  };
  return new ProviderError("retry", "UPSTREAM_ERROR", detail, details);
}

interface VideoJob {
  readonly id: string;
  /** By our clock, epoch milliseconds. */
  readonly submittedAt: number;
}

function readJob(handle: Json): VideoJob {
  const { video: id, submitted_at: at } = isJsonObject(handle) ? handle : {};
  if (isId(id) && typeof at === "number") return { id, submittedAt: at };
  throw new ProviderError("fail", "UPSTREAM_ERROR", "OpenAI: this is no video that was asked for");
}

/** Some servers put all that they need to know into an id, which makes it long. */
function isId(value: Json | undefined): value is string {
  return typeof value === "string" && /^[\x21-\x7e]{1,1024}$/.test(value) && !/^\.{1,2}$/.test(value);
}

const pathOf = (id: string) => `/videos/${encodeURIComponent(id)}`;

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > MOST_DELETED && oldest !== undefined) ids.delete(oldest);
}

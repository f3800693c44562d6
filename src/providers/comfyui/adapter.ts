import { isJsonObject } from "../../domain/json.ts";
import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import type { Route } from "../../domain/model/model.ts";
import {
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
  type Submitted,
} from "../../domain/ports/provider.ts";
import type { DownloadingDeps } from "../kit/adapter-deps.ts";
import { answerWithout, refusedSubmission, unansweredSubmission } from "../kit/classify.ts";
import { hopHeaders } from "../kit/hops.ts";
import { createUpstream, type HttpLimits } from "../kit/http.ts";
import { beforeSending } from "../kit/inputs.ts";
import type { Restarts } from "../kit/keyed-settings.ts";
import { fetchFromAnywhere } from "../kit/media.ts";
import type { Api } from "./api.ts";
import { followInCloud } from "./cloud.ts";
import { createEvents, type Events } from "./events.ts";
import { fillWorkflow, workflowOf } from "./graph.ts";
import { uuidOf } from "./ids.ts";
import { findLacks } from "./lacks.ts";
import { isPromptId, openPrompt, readPrompt } from "./prompt.ts";
import { readRefusal } from "./refusals.ts";
import { readFile } from "./result.ts";
import { followOnServer } from "./server.ts";
import { COMFYUI } from "./settings.ts";
import { testComfy } from "./test-call.ts";
import { uploadInputs } from "./uploads.ts";

export interface ComfyDeps extends DownloadingDeps {
  /** Absent for a server without one. */
  readonly apiKey?: string | undefined;
  /** `http://127.0.0.1:8188`, or Comfy Cloud. */
  readonly baseUrl: string;
  readonly isCloud: boolean;
  readonly restarts: Restarts;
}

/** The server answers at once, unless it is loading a node; reading a long queue takes a while. */
const LIMITS: HttpLimits = { connectMs: 15_000, answerMs: 120_000, bodyMs: 60_000 };
const ANSWER_BYTES = 8 * 1024 * 1024;
/** Where the cloud's files are: it answers with signed addresses of this storage. */
const CLOUD_FILES = ["storage.googleapis.com", "*.storage.googleapis.com", "*.comfy.org"];

/** ComfyUI: workflows of the operator's own, on servers of one's own or in Comfy Cloud. */
export function createComfyProvider(deps: ComfyDeps): ProviderAdapter {
  const { apiKey, clock, isCloud } = deps;
  const upstream = createUpstream({
    name: COMFYUI.title,
    baseUrl: deps.baseUrl,
    credentials: credentialsOf(deps),
    secrets: apiKey === undefined ? [] : [apiKey],
    clock,
    limits: deps.limits ?? LIMITS,
    ...{ proxy: deps.proxy, network: deps.network },
  });
  const base = deps.baseUrl.replace(/\/+$/, "");
  const prefix = isCloud && !base.endsWith("/api") ? "/api" : "";
  const api: Api = { upstream, isCloud, path: (path) => `${prefix}${path}` };
  const media = {
    upstream,
    hosts: isCloud ? CLOUD_FILES : [],
    withKey: apiKey !== undefined,
    limits: deps.mediaLimits,
  };
  const events = isCloud ? undefined : createEvents(upstream, base);
  const following = events === undefined ? followInCloud(api) : followOnServer(api, events);
  let isStopped = false;
  return {
    id: COMFYUI.id,
    lane: deps.lane ?? COMFYUI.id,
    rates: deps.rates,
    // A prompt that is sent twice is queued twice, even under one id.
    submitIsIdempotent: false,
    repeatIsSafe: deps.restarts === "safe",
    concurrency: deps.concurrency,
    async submit(request, signal) {
      if (isStopped) throw new Error("ComfyUI: the adapter was stopped");
      return submit(api, events, request, signal);
    },
    ...following,
    async fetchOutput(ref, signal) {
      const file = readFile(ref);
      if (file === undefined)
        throw new ProviderError("fail", "FINALIZATION_FAILED", "ComfyUI: no such output");
      const wanted = { url: base + api.path(file.path), maxBytes: MAX_OUTPUT_BYTES[file.kind] };
      return fetchFromAnywhere(media, deps.fetchPublic, wanted, signal);
    },
    test: (signal) => testComfy(api, signal),
    // The cloud reports nodes only all at once, and its nodes are fixed.
    ...(!isCloud && {
      lacks: async (route: Pick<Route, "upstreamModel" | "wording">, signal: AbortSignal) =>
        findLacks(api, workflowOf(route), signal),
    }),
    async stop() {
      isStopped = true;
      events?.stop();
    },
  };
}

function credentialsOf({ apiKey, isCloud }: ComfyDeps): Readonly<Record<string, string>> {
  if (apiKey === undefined) return {};
  return isCloud ? { "X-API-Key": apiKey } : { Authorization: `Bearer ${apiKey}` };
}

/** @param events of a server, which lets us choose the id of a prompt and the name that its events go to */
async function submit(
  api: Api,
  events: Events | undefined,
  request: SubmitRequest,
  signal: AbortSignal,
): Promise<Submitted> {
  signal.throwIfAborted();
  const { upstream } = api;
  const files = await uploadInputs(api, request, signal);
  const prompt = await beforeSending(async () => fillWorkflow(request, files));
  const { attempt } = request;
  const named = events && { prompt_id: uuidOf(attempt), client_id: events.clientFor(attempt) };
  const content = { prompt, ...named };
  const body = { type: "application/json", bytes: new TextEncoder().encode(JSON.stringify(content)) };
  const { tracing } = request;
  const sent = upstream.send(
    {
      method: "POST",
      url: api.path("/prompt"),
      headers: hopHeaders(request),
      body,
      maxBytes: ANSWER_BYTES,
      tracing,
    },
    signal,
  );
  const answer = await sent.catch(unansweredSubmission);
  if (answer.status < 200 || answer.status > 299)
    throw refusedSubmission(readRefusal(upstream, answer, workflowOf(request)));
  // A release that chooses ids itself reports its choice.
  const given = isJsonObject(answer.json) ? answer.json.prompt_id : undefined;
  if (!isPromptId(given)) throw answerWithout(upstream, answer, "prompt_id");
  const operation = openPrompt(request, given, upstream.clock.now());
  events?.follow(readPrompt(operation), request.previews);
  return { kind: "operation", operation, jobId: given };
}

import { createCatalog } from "../../../src/catalog/catalog.ts";
import type { AttemptId, ModelId, TaskId } from "../../../src/domain/ids.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../src/domain/json.ts";
import { type Model, selectMode } from "../../../src/domain/model/model.ts";
import type { InputFile, ProviderAdapter, SubmitRequest } from "../../../src/domain/ports/provider.ts";
import type { Clock } from "../../../src/domain/ports/runtime.ts";
import { createFalProvider, type FalDeps } from "../../../src/providers/fal/adapter.ts";
import { FAL } from "../../../src/providers/fal/settings.ts";
import {
  type Arrived,
  type Scripted,
  type ScriptedUpstream,
  startUpstream,
} from "../../helpers/scripted-upstream.ts";
import { KEY } from "../kit/http-contract.ts";

export function createProvider(
  to: Pick<FalDeps, "fetchPublic"> & { baseUrl: string; clock: Clock },
): ProviderAdapter {
  return createFalProvider({ apiKey: KEY, concurrency: 4, ...to });
}

let attempts = 0;

/** The built-in models that fal makes. */
export const FAL_MODELS: readonly Model[] = createCatalog()
  .all()
  .filter((model) => model.routes.some((route) => route.provider === FAL.id));

export interface Submission {
  readonly upstreamModel?: string;
  /** The model that has a route to `upstreamModel`; a built-in one unless given. */
  readonly model?: Model | undefined;
  readonly prompt?: string;
  readonly n?: number;
  readonly parameters?: { readonly [name: string]: Json };
  readonly inputs?: readonly InputFile[];
}

export function submission(given: Submission = {}): SubmitRequest {
  const number = String(++attempts).padStart(26, "0");
  const {
    upstreamModel = "fal-ai/flux/dev",
    prompt = "A red fox",
    n = 1,
    parameters = {},
    inputs = [],
  } = given;
  const isRight = ({ routes }: Model) => routes.some((each) => each.upstreamModel === upstreamModel);
  const model = given.model ?? FAL_MODELS.find(isRight);
  const route = model?.routes.find((each) => each.upstreamModel === upstreamModel);
  const mode = (model && selectMode(model, new Set(inputs.map(({ role }) => role))))?.id ?? "any";
  return {
    attempt: `att_${number}` as AttemptId,
    taskId: `task_${number}` as TaskId,
    upstreamModel,
    wording: route?.wording,
    request: { kind: "image", model: "any" as ModelId, mode, prompt, n, parameters, inputs: [] },
    inputs,
  };
}

/** The job of the examples. */
export const JOB = "764cabcf-b745-4b3e-ae38-1200304cf45b";

/** What the queue answers to a submission. */
export function queued(origin: string, id = JOB, over: JsonObject = {}): Scripted {
  const own = `${origin}/fal-ai/flux/requests/${id}`;
  const urls = { response_url: own, status_url: `${own}/status`, cancel_url: `${own}/cancel` };
  return { json: { status: "IN_QUEUE", request_id: id, queue_position: 0, ...urls, ...over } };
}

export interface Job {
  /** What its status says next; the last one for ever. */
  readonly statuses: Scripted[];
  result: Scripted;
  isCancelled: boolean;
}

export interface Queue extends ScriptedUpstream {
  readonly jobs: Map<string, Job>;
}

/** The queue as its documentation has it: jobs that go from word to word, results with addresses of files, cancelling. */
export async function startQueue(
  plan: (input: JsonObject) => Pick<Job, "statuses" | "result"> | Scripted,
): Promise<Queue> {
  const jobs = new Map<string, Job>();
  const upstream = await startUpstream((request) => respond(request));
  const respond = (request: Arrived): Scripted => {
    const [, id = "", verb] = /\/requests\/([^/?]+)(?:\/(status|cancel))?/.exec(request.path) ?? [];
    if (request.path.startsWith("/files/")) return { body: `bytes of ${request.path}` };
    if (request.method === "POST") {
      const planned = plan(JSON.parse(request.body.toString()));
      if (!("statuses" in planned)) return planned;
      const fresh = `job-${jobs.size + 1}`;
      jobs.set(fresh, { ...planned, statuses: [...planned.statuses], isCancelled: false });
      return queued(upstream.origin, fresh);
    }
    const job = jobs.get(id);
    if (job === undefined)
      return { status: 404, json: { detail: "Request not found", error_type: "not_found" } };
    if (verb === "cancel") return cancel(job);
    if (verb === "status") return named(job.isCancelled ? COMPLETED : next(job), id);
    return job.isCancelled ? CANCELLED : job.result;
  };
  return Object.assign(upstream, { jobs });
}

/** A status of the examples' job as one of this job. */
function named(status: Scripted, id: string): Scripted {
  const json = "json" in status && isJsonObject(status.json) ? status.json : undefined;
  return json?.request_id === JOB ? { ...status, json: { ...json, request_id: id } } : status;
}

function next({ statuses }: Job): Scripted {
  const status = statuses.length > 1 ? statuses.shift() : statuses[0];
  return status ?? COMPLETED;
}

function cancel(job: Job): Scripted {
  if (job.isCancelled || job.statuses[0] === COMPLETED) {
    return { status: 400, json: { status: "ALREADY_COMPLETED" } };
  }
  job.isCancelled = true;
  return { status: 202, json: { status: "CANCELLATION_REQUESTED" } };
}

export const IN_QUEUE: Scripted = {
  status: 202,
  json: { status: "IN_QUEUE", request_id: JOB, queue_position: 1 },
};
/** With the logs as they come, a list, not as the official document has them. */
export const IN_PROGRESS: Scripted = {
  status: 202,
  json: { status: "IN_PROGRESS", request_id: JOB, logs: [{ message: "step 3/28", level: "INFO" }] },
};
export const COMPLETED: Scripted = {
  json: { status: "COMPLETED", request_id: JOB, logs: null, metrics: { inference_time: 3.4 } },
};
const CANCELLED: Scripted = {
  status: 499,
  json: { detail: "Request was cancelled", error_type: "client_cancelled" },
};

/** A result with pictures at the queue's own address, as no file can come from elsewhere in a test. */
export function imagesAt(origin: () => string, count: number, over: JsonObject = {}): Scripted {
  return {
    get json() {
      const images = Array.from({ length: count }, (_, i) => ({
        url: `${origin()}/files/${i}.png`,
        width: 1024,
        height: 1024,
        content_type: "image/png",
      }));
      return {
        images,
        seed: 1,
        has_nsfw_concepts: images.map(() => false),
        prompt: "p",
        timings: {},
        ...over,
      };
    },
  };
}

/** A job that ends without a result, by a status that says so or by the answer to asking for the result. */
export function modelError(
  type: string,
  message: string,
  loc: readonly string[] = ["body", "prompt"],
): JsonObject {
  return { detail: [{ loc, msg: message, type, url: "https://docs.fal.ai/errors", input: { prompt: "…" } }] };
}

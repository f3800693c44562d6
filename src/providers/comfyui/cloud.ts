import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { type PollResult, ProviderError } from "../../domain/ports/provider.ts";
import { failedJob, isOfAnother, unansweredQuestion } from "../kit/classify.ts";
import { type Api, ask, noWord, tell } from "./api.ts";
import { type Prompt, readPrompt } from "./prompt.ts";
import { readFailure } from "./refusals.ts";
import { readOutputs } from "./result.ts";
import type { Following } from "./server.ts";

const ANSWER_BYTES = 1024 * 1024;
/** A job younger than this may be unknown because the cloud's servers have not all heard of it. */
const SETTLED_MS = 60_000;
const WAITING: ReadonlySet<Json | undefined> = new Set(["waiting_to_dispatch", "pending"]);

/** Comfy Cloud (cloud.openapi.json @ffb27fc, 2026-08): jobs with a status, which no restart loses. */
export function followInCloud(api: Api): Following {
  return {
    async poll(handle, signal) {
      const prompt = readPrompt(handle);
      const status = await statusOf(api, prompt, signal);
      switch (status) {
        case "completed": {
          const { outputs } = await jobOf(api, prompt, signal);
          return readOutputs(outputs, prompt);
        }
        case "error":
          return failure(api, prompt, signal);
        case "cancelled":
          return { kind: "cancelled" };
        case undefined:
          return {
            kind: "failed",
            code: "UPSTREAM_ERROR",
            message: "The provider no longer has this job.",
            isLost: true,
          };
        // Also a status that nobody has told us of: neither success nor failure follows from it.
        default:
          return { kind: "pending" };
      }
    },
    async cancel(handle, signal) {
      const prompt = readPrompt(handle);
      const status = await statusOf(api, prompt, signal);
      // Its interrupt stops whatever runs of the whole account.
      if (status === "in_progress") return "unable";
      if (WAITING.has(status)) await tell(api, "/queue", { delete: [prompt.id] }, signal);
      return undefined;
    },
  };
}

/** The status word of a job; undefined if the cloud does not know the job although it should by now. */
async function statusOf(
  api: Api,
  { id, submittedAt }: Prompt,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { upstream } = api;
  const url = api.path(`/job/${encodeURIComponent(id)}/status`);
  const answer = await upstream
    .send({ method: "GET", url, maxBytes: ANSWER_BYTES }, signal)
    .catch(unansweredQuestion);
  const { status, json } = answer;
  // The clock may have been set since, so a job from the future counts as old.
  const isSettled = Math.abs(upstream.clock.now() - submittedAt) >= SETTLED_MS;
  if (status === 404 && isJsonObject(json) && isSettled) return undefined;
  if (status > 299 || !isJsonObject(json) || typeof json.status !== "string") throw noWord(upstream, answer);
  if (isOfAnother(json.id, id)) throw noWord(upstream, answer);
  return json.status;
}

async function jobOf(api: Api, { id }: Prompt, signal: AbortSignal): Promise<JsonObject> {
  const job = await ask(api, `/jobs/${encodeURIComponent(id)}`, signal);
  if (!isOfAnother(job.id, id)) return job;
  throw new ProviderError("retry", "UPSTREAM_ERROR", `${api.upstream.name} answered about another job`);
}

async function failure(api: Api, prompt: Prompt, signal: AbortSignal): Promise<PollResult> {
  const { execution_error: error } = await jobOf(api, prompt, signal);
  return failedJob(readFailure(api.upstream, isJsonObject(error) ? error : {}));
}

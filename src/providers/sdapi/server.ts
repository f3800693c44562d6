import { isJsonObject, type Json } from "../../domain/json.ts";
import { ProviderError } from "../../domain/ports/provider.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { describeAnswer, meaningOfStatus, retryAfterMs, unansweredQuestion } from "../kit/classify.ts";
import type { Upstream } from "../kit/http.ts";
import { refusedByQuestion } from "../kit/refusal.ts";

/** What a server says of one of our tasks. It remembers the last sixteen that it finished. */
export type Whereabouts =
  | { readonly kind: "queued" | "finished" | "unknown" }
  | { readonly kind: "active"; readonly progress: number | undefined };

/** The questions that a server answers at once, whatever it makes. */
export interface Server {
  /** Where a task is; undefined where the server has no such question. @throws ProviderError `retry` without an answer */
  find(id: string, signal: AbortSignal): Promise<Whereabouts | undefined>;
  /** Whether what it made last was interrupted, as far as it tells. Never throws but for the signal. */
  wasInterrupted(signal: AbortSignal): Promise<boolean>;
  /** Stops whatever it makes. */
  interrupt(signal: AbortSignal): Promise<void>;
}

const ANSWER_BYTES = 4 * 1024 * 1024;

export function createServer(upstream: Upstream): Server {
  return {
    async find(id, signal) {
      // Without a preview, which would be a picture.
      const question = { id_task: id, id_live_preview: -1, live_preview: false };
      const answer = await post(upstream, "/internal/progress", question, signal);
      if (answer.status === 404 || answer.status === 405) return undefined;
      return read(upstream, answer);
    },
    async wasInterrupted(signal) {
      const url = "/sdapi/v1/progress?skip_current_image=true";
      try {
        const { json } = await upstream.send({ method: "GET", url, maxBytes: ANSWER_BYTES }, signal);
        const state = isJsonObject(json) && isJsonObject(json.state) ? json.state : {};
        // The next job takes the mark away as it begins, and its own mark says nothing of ours.
        return state.job === "" && state.interrupted === true;
      } catch {
        signal.throwIfAborted();
        return false;
      }
    },
    async interrupt(signal) {
      const answer = await post(upstream, "/sdapi/v1/interrupt", {}, signal);
      if (answer.status > 299) throw noWord(upstream, answer);
    },
  };
}

/** Asks what starts no work. @throws ProviderError `retry` without an answer */
function post(upstream: Upstream, url: string, content: Json, signal: AbortSignal): Promise<UpstreamAnswer> {
  const body = { type: "application/json", bytes: new TextEncoder().encode(JSON.stringify(content)) };
  return upstream
    .send({ method: "POST", url, body, maxBytes: ANSWER_BYTES }, signal)
    .catch(unansweredQuestion);
}

function read(upstream: Upstream, answer: UpstreamAnswer): Whereabouts {
  const { status, json } = answer;
  if (status > 299 || !isJsonObject(json)) throw noWord(upstream, answer);
  const { active, queued, completed, progress } = json;
  if (typeof active !== "boolean" || typeof queued !== "boolean" || typeof completed !== "boolean")
    throw noWord(upstream, answer);
  if (active) return { kind: "active", progress: percent(progress) };
  return { kind: queued ? "queued" : completed ? "finished" : "unknown" };
}

/** It may say 1 a while before it answers. */
function percent(part: Json | undefined): number | undefined {
  return typeof part === "number" && part >= 0 ? Math.min(99, Math.floor(part * 100)) : undefined;
}

/** An answer that says nothing of the task: ask again later. */
function noWord(upstream: Upstream, answer: UpstreamAnswer): ProviderError {
  const { status, headers } = answer;
  return new ProviderError(
    "retry",
    "UPSTREAM_ERROR",
    describeAnswer(upstream, answer, { word: "with no word on the task" }),
    {
      retryAfterMs: retryAfterMs(headers),
      refused: refusedByQuestion({ meaning: meaningOfStatus(status), status }),
      isTooOften: status === 429,
    },
  );
}

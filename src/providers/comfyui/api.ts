import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { ProviderError } from "../../domain/ports/provider.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { describeAnswer, meaningOfStatus, retryAfterMs, unansweredQuestion } from "../kit/classify.ts";
import type { Upstream, UpstreamRequest } from "../kit/http.ts";
import { refusedByQuestion } from "../kit/refusal.ts";

/** A server, and how its calls are addressed. */
export interface Api {
  readonly upstream: Upstream;
  readonly isCloud: boolean;
  /** The path of a call, which the cloud has below `/api`. */
  path(path: string): string;
}

/** A finished prompt comes with its graph. */
const ANSWER_BYTES = 8 * 1024 * 1024;

/** Sends a request that changes nothing. @throws ProviderError `retry` if the answer is unusable */
export async function ask(
  { upstream, path }: Api,
  url: string,
  signal: AbortSignal,
  how: Pick<UpstreamRequest, "read"> & { readonly maxBytes?: number } = {},
): Promise<JsonObject> {
  const request = { method: "GET", url: path(url), maxBytes: ANSWER_BYTES, ...how } as const;
  const answer = await upstream.send(request, signal).catch(unansweredQuestion);
  if (answer.status > 299 || !isJsonObject(answer.json)) throw noWord(upstream, answer);
  return answer.json;
}

/** Requests a stop; the answer is empty. */
export async function tell(
  { upstream, path }: Api,
  url: string,
  content: Json,
  signal: AbortSignal,
): Promise<void> {
  const body = { type: "application/json", bytes: new TextEncoder().encode(JSON.stringify(content)) };
  const request = { method: "POST", url: path(url), body, maxBytes: ANSWER_BYTES } as const;
  const answer = await upstream.send(request, signal).catch(unansweredQuestion);
  // Newer servers say 404 where there is nothing to stop.
  if (answer.status > 299 && answer.status !== 404) throw noWord(upstream, answer);
}

/** An answer that says nothing of the job: ask again later. */
export function noWord(upstream: Upstream, answer: UpstreamAnswer): ProviderError {
  const detail = describeAnswer(upstream, answer, { word: "with no word on the prompt" });
  const { status } = answer;
  return new ProviderError("retry", "UPSTREAM_ERROR", detail, {
    retryAfterMs: retryAfterMs(answer.headers),
    refused: refusedByQuestion({ meaning: meaningOfStatus(status), status }),
    isTooOften: status === 429,
  });
}

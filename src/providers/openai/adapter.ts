import type { ProviderId } from "../../domain/ids.ts";
import { isJsonObject, type Json } from "../../domain/json.ts";
import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import {
  type Output,
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
  type Submitted,
} from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { Usage } from "../../domain/task.ts";
import { describeAnswer, refusedSubmission, unansweredSubmission } from "../kit/classify.ts";
import { createUpstream, type HttpLimits, type Upstream, type UpstreamAnswer } from "../kit/http.ts";
import { fetchMedia, type MediaLimits } from "../kit/media.ts";
import { readRefusal } from "./refusals.ts";
import { toUpstreamRequest } from "./request.ts";

/** Branded by hand: adapters are where provider ids come from. */
export const OPENAI_ID = "openai" as ProviderId;

export interface OpenAiDeps {
  readonly apiKey: string;
  /** `https://api.openai.com/v1`, or another server of that API. */
  readonly baseUrl: string;
  readonly concurrency: number;
  /** The server honours `Idempotency-Key`: one key, one set of pictures, however often it is sent. */
  readonly isIdempotent: boolean;
  readonly clock: Clock;
  readonly limits?: HttpLimits | undefined;
  readonly mediaLimits?: MediaLimits | undefined;
}

/** Pictures come in the answer itself, after as long as they take: ten of them at the highest quality take minutes. */
const LIMITS: HttpLimits = { connectMs: 15_000, answerMs: 900_000, bodyMs: 300_000 };

const MIB = 1024 * 1024;
/** Of an answer, for each picture in it: 24 MiB as base64, more than the largest size has been seen to need. */
const ANSWER_BYTES_EACH = 32 * MIB;

/** The synchronous images API of OpenAI, and of servers that speak it. */
export function createOpenAiProvider(deps: OpenAiDeps): ProviderAdapter {
  const upstream = createUpstream({
    name: "OpenAI",
    baseUrl: deps.baseUrl,
    credentials: { Authorization: `Bearer ${deps.apiKey}` },
    secrets: [deps.apiKey],
    clock: deps.clock,
    limits: deps.limits ?? LIMITS,
  });
  const media = { upstream, hosts: [], limits: deps.mediaLimits };
  return {
    id: OPENAI_ID,
    submitIsIdempotent: deps.isIdempotent,
    concurrency: deps.concurrency,
    submit: (request, signal) => submit(upstream, request, signal),
    async fetchOutput(ref, signal) {
      signal.throwIfAborted();
      const url = isJsonObject(ref) && typeof ref.url === "string" ? ref.url : undefined;
      if (url === undefined) throw new ProviderError("fail", "FINALIZATION_FAILED", "OpenAI: no such output");
      return fetchMedia(media, url, MAX_OUTPUT_BYTES.image, signal);
    },
  };
}

async function submit(upstream: Upstream, request: SubmitRequest, signal: AbortSignal): Promise<Submitted> {
  signal.throwIfAborted();
  const { path, body } = await toUpstreamRequest(request);
  signal.throwIfAborted();
  const headers = { "Idempotency-Key": request.attempt };
  const maxBytes = MIB + request.request.n * ANSWER_BYTES_EACH;
  let answer: UpstreamAnswer;
  try {
    answer = await upstream.send({ method: "POST", url: path, headers, body, maxBytes }, signal);
  } catch (error) {
    throw unansweredSubmission(error);
  }
  if (answer.status < 200 || answer.status > 299) throw refusedSubmission(readRefusal(upstream, answer));
  return readImages(upstream, answer);
}

function readImages(upstream: Upstream, answer: UpstreamAnswer): Submitted {
  const { data, usage } = isJsonObject(answer.json) ? answer.json : {};
  if (!Array.isArray(data)) {
    const detail = `${describeAnswer(upstream, answer)}, but with no list of images`;
    throw new ProviderError("unknown", "UPSTREAM_ERROR", detail);
  }
  // An empty list is an answer too: the task ends without outputs.
  return { kind: "outputs", outputs: data.flatMap(readImage), usage: readUsage(usage) };
}

function readImage(image: Json): Output[] {
  if (!isJsonObject(image)) return [];
  if (typeof image.b64_json === "string" && image.b64_json !== "") {
    return [{ kind: "bytes", bytes: Buffer.from(image.b64_json, "base64") }];
  }
  return typeof image.url === "string" ? [{ kind: "remote", ref: { url: image.url } }] : [];
}

/** Tokens, under either of the names that API has had for them. */
function readUsage(usage: Json | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const inputTokens = count(usage.input_tokens) ?? count(usage.prompt_tokens);
  const outputTokens = count(usage.output_tokens) ?? count(usage.completion_tokens);
  return inputTokens === undefined && outputTokens === undefined ? undefined : { inputTokens, outputTokens };
}

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

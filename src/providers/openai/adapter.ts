import { isJsonObject } from "../../domain/json.ts";
import { MAX_OUTPUT_BYTES } from "../../domain/limits.ts";
import {
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
  type Submitted,
} from "../../domain/ports/provider.ts";
import type { DownloadingDeps } from "../kit/adapter-deps.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { refusedSubmission, unansweredSubmission } from "../kit/classify.ts";
import { hopHeaders } from "../kit/hops.ts";
import { createUpstream, type HttpLimits, NoAnswer, type Upstream } from "../kit/http.ts";
import { beforeSending } from "../kit/inputs.ts";
import type { Restarts } from "../kit/keyed-settings.ts";
import { fetchFromAnywhere } from "../kit/media.ts";
import { breakingOrders } from "../kit/prompt-escapes.ts";
import { readImages } from "./images.ts";
import { readRefusal } from "./refusals.ts";
import { toUpstreamRequest } from "./request.ts";
import { OPENAI } from "./settings.ts";
import { createImageStream } from "./stream.ts";
import { testOpenAi } from "./test-call.ts";
import { createVideos } from "./videos.ts";

export interface OpenAiDeps extends DownloadingDeps {
  readonly apiKey: string;
  /** `https://api.openai.com/v1`, or another server of that API. */
  readonly baseUrl: string;
  /** The server honours `Idempotency-Key`: sending one key twice makes one set of pictures. */
  readonly isIdempotent: boolean;
  readonly restarts?: Restarts | undefined;
}

/** The answer holds the pictures and comes once they are made: ten at the highest quality take minutes. */
const LIMITS: HttpLimits = { connectMs: 15_000, answerMs: 900_000, bodyMs: 300_000 };

const OPENAI_ORIGIN = "https://api.openai.com";
const MIB = 1024 * 1024;
/** Limit of an answer for each picture, early versions included: 24 MiB as base64. The largest pictures seen need less. */
const ANSWER_BYTES_EACH = 32 * MIB;

/** The synchronous images API and the videos API of OpenAI, and of servers that speak them. */
export function createOpenAiProvider(deps: OpenAiDeps): ProviderAdapter {
  const upstream = createUpstream({
    name: OPENAI.title,
    baseUrl: deps.baseUrl,
    credentials: { Authorization: `Bearer ${deps.apiKey}` },
    secrets: [deps.apiKey],
    clock: deps.clock,
    limits: deps.limits ?? LIMITS,
    ...{ proxy: deps.proxy, network: deps.network },
  });
  const media = { upstream, hosts: [], limits: deps.mediaLimits };
  const videos = createVideos(media, deps.baseUrl, deps.fetchPublic);
  return {
    id: OPENAI.id,
    lane: deps.lane ?? OPENAI.id,
    rates: deps.rates,
    submitIsIdempotent: deps.isIdempotent,
    repeatIsSafe: deps.restarts === "safe",
    concurrency: deps.concurrency,
    // Other servers of that API may count all together.
    limitsByModel: upstream.origin === OPENAI_ORIGIN,
    submit: (request, signal) =>
      request.request.kind === "video"
        ? videos.submit(request, signal)
        : submit(upstream, request, deps.isIdempotent, signal),
    test: (signal) => testOpenAi(upstream, signal),
    poll: videos.poll,
    cancel: videos.cancel,
    async fetchOutput(ref, signal) {
      if (isJsonObject(ref) && ref.video !== undefined) return videos.fetchOutput(ref, signal);
      const url = isJsonObject(ref) && typeof ref.url === "string" ? ref.url : undefined;
      if (url === undefined) throw new ProviderError("fail", "FINALIZATION_FAILED", "OpenAI: no such output");
      const file = { url, maxBytes: MAX_OUTPUT_BYTES.image };
      return fetchFromAnywhere(media, deps.fetchPublic, file, signal);
    },
  };
}

/** What sd-server, which speaks this API too, would read as arguments of its own. */
const breakOrders = breakingOrders(["<sd_cpp_extra_args"]);

async function submit(
  upstream: Upstream,
  request: SubmitRequest,
  isIdempotent: boolean,
  signal: AbortSignal,
): Promise<Submitted> {
  signal.throwIfAborted();
  const { path, body } = await beforeSending(() => toUpstreamRequest(breakOrders(request)));
  const { n: images } = request.request;
  const { previews, tracing } = request;
  const stream = previews && createImageStream(upstream, { images, previews });
  const headers = {
    ...hopHeaders(request),
    "Idempotency-Key": request.attempt,
    ...(stream === undefined ? {} : { Accept: "text/event-stream, application/json" }),
  };
  const maxBytes = MIB + images * ANSWER_BYTES_EACH * (1 + (previews?.wanted ?? 0));
  const events = stream && { take: stream.take, maxBytes: MIB + ANSWER_BYTES_EACH };
  let answer: UpstreamAnswer;
  try {
    answer = await upstream.send(
      { method: "POST", url: path, headers, body, maxBytes, events, tracing },
      signal,
    );
  } catch (error) {
    // A server without idempotency cannot be asked for the rest again, so what has arrived counts.
    const rescued = isIdempotent || !(error instanceof NoAnswer) ? undefined : stream?.rescued();
    if (rescued !== undefined) return rescued;
    unansweredSubmission(error);
  }
  if (answer.status < 200 || answer.status > 299) throw refusedSubmission(readRefusal(upstream, answer));
  return stream !== undefined && answer.isEvents === true
    ? stream.result(answer)
    : readImages(upstream, answer, request.request.parameters.size);
}

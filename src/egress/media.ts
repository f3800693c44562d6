import { EgressError } from "../domain/ports/egress.ts";
import { type Deadline, orAborted, startDeadline } from "./deadline.ts";
import { type EgressDeps, reasonOf } from "./deliver.ts";
import { type Destination, readDestination } from "./destination.ts";
import { fetchPinned } from "./pinned.ts";
import { checkedAddresses } from "./resolve.ts";

const HEADERS = {
  Accept: "image/png, image/jpeg, image/webp, video/mp4, video/webm",
  "User-Agent": "Service-Fetch/1.0",
};
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Fetches a media file; see Egress.fetchMedia. */
export async function fetchMedia(
  deps: EgressDeps,
  text: string,
  options: { maxBytes: number; signal: AbortSignal },
): Promise<AsyncIterable<Uint8Array>> {
  const { limits, after } = deps;
  const total = startDeadline(after, limits.mediaTotalMs, options.signal);
  const step = startDeadline(after, limits.mediaAnswerMs, total.signal);
  const clear = () => {
    step.clear();
    total.clear();
  };
  try {
    const response = await follow(deps, text, step.signal);
    refuseAnswer(response, options.maxBytes);
    step.restart(limits.mediaIdleMs);
    return readBody(response, {
      maxBytes: options.maxBytes,
      step,
      idleMs: limits.mediaIdleMs,
      clear,
      caller: options.signal,
    });
  } catch (error) {
    clear();
    throw explained(error, step, options.signal);
  }
}

/** The answer at the end of the redirects; each hop is checked as if it had been given. */
async function follow(deps: EgressDeps, text: string, signal: AbortSignal): Promise<Response> {
  let destination = permitted(readDestination(text, "media", deps.guard));
  for (let hops = 0; ; hops += 1) {
    const addresses = await orAborted(checkedAddresses(deps, destination, "media", signal), signal);
    const response = await fetchPinned(destination, addresses, {
      headers: HEADERS,
      signal,
      ca: deps.ca,
    });
    const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
    if (location === null) return response;
    abandon(response);
    if (hops === deps.limits.mediaRedirects) throw new EgressError("bad_status", "redirects too many times");
    const next = URL.parse(location, destination.url.href);
    if (next === null) throw new EgressError("bad_status", "redirects to something that is not a URL");
    destination = permitted(readDestination(next.href, "media", deps.guard), "redirects to a URL that ");
  }
}

function permitted(destination: Destination | { refusal: string }, prefix = ""): Destination {
  if (!("refusal" in destination)) return destination;
  throw new EgressError("forbidden", `${prefix}${destination.refusal}`);
}

function refuseAnswer(response: Response, maxBytes: number): void {
  const fault = answerFault(response, maxBytes);
  if (fault === undefined) return;
  abandon(response);
  throw fault;
}

function answerFault({ status, headers }: Response, maxBytes: number): EgressError | undefined {
  if (status !== 200) return new EgressError("bad_status", `was answered with status ${status}`);
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    return new EgressError("bad_status", "was answered in a compressed form that was not asked for");
  }
  return Number(headers.get("content-length") ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined;
}

async function* readBody(
  response: Response,
  watch: { maxBytes: number; step: Deadline; idleMs: number; clear: () => void; caller: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  let sizeBytes = 0;
  try {
    while (reader !== undefined) {
      watch.step.restart(watch.idleMs);
      const { done, value } = await reader.read();
      if (done) return;
      sizeBytes += value.length;
      if (sizeBytes > watch.maxBytes) throw tooLarge(watch.maxBytes);
      watch.step.pause();
      yield value;
    }
  } catch (error) {
    throw explained(error, watch.step, watch.caller);
  } finally {
    watch.clear();
    await reader?.cancel().catch(() => undefined);
  }
}

/** Lets go of an answer nobody will read, so that its connection and its memory are freed. */
function abandon(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}

function tooLarge(maxBytes: number): EgressError {
  const size =
    maxBytes < 1024 * 1024 ? `${rounded(maxBytes / 1024)} KB` : `${rounded(maxBytes / 1024 / 1024)} MB`;
  return new EgressError("too_large", `is larger than ${size}`);
}

function rounded(size: number): number {
  return Math.round(size * 10) / 10;
}

/** The caller's own abort stays what it is; everything else is told as what the address did. */
function explained(error: unknown, step: Deadline, caller: AbortSignal): unknown {
  if (caller.aborted) return caller.reason;
  if (error instanceof EgressError) return error;
  if (step.signal.aborted) return new EgressError("timeout", "did not answer in time", error);
  return new EgressError("unreachable", `could not be read (${reasonOf(error)})`, error);
}

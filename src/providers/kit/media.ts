import { ProviderError } from "../../domain/ports/provider.ts";
import { reasonOf, type Upstream } from "./http.ts";
import { startWatch, type Watch } from "./watch.ts";

export interface MediaLimits {
  /** To the head of the answer, redirects included. */
  readonly answerMs: number;
  /** Without a single byte. */
  readonly idleMs: number;
  /** All of a file. */
  readonly totalMs: number;
}

export const MEDIA_LIMITS: MediaLimits = { answerMs: 30_000, idleMs: 30_000, totalMs: 600_000 };

export interface MediaSource {
  readonly upstream: Upstream;
  /** Hosts other than the upstream's own that its files are at, `.example.com` for all names below it. */
  readonly hosts: readonly string[];
  readonly limits?: MediaLimits | undefined;
}

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Whether a file may be fetched from there: the upstream's own origin, or by https one of the hosts it is known to use. */
export function isMediaUrl({ upstream, hosts }: MediaSource, text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.origin === upstream.origin) return true;
  if (url.protocol !== "https:" || url.port !== "") return false;
  return hosts.some((host) => (host.startsWith(".") ? url.hostname.endsWith(host) : url.hostname === host));
}

/**
 * The bytes of a file an upstream made. No credential goes along, and each redirect is checked as if it had been given.
 *
 * @throws ProviderError `fail` when it is not to be had from there; `retry` when it may be later
 */
export async function fetchMedia(
  source: MediaSource,
  text: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  signal.throwIfAborted();
  const { upstream, limits = MEDIA_LIMITS } = source;
  const total = startWatch(upstream.clock, signal);
  const step = startWatch(upstream.clock, total.signal);
  const watch: Watch = {
    ...step,
    end() {
      step.end();
      total.end();
    },
  };
  total.phase(limits.totalMs, "the file did not come");
  step.phase(limits.answerMs, "no answer");
  try {
    const response = await follow(source, text, watch.signal);
    refuseAnswer(upstream, response, maxBytes);
    return read(source, response, { maxBytes, watch, limits, caller: signal });
  } catch (error) {
    watch.end();
    throw explained(upstream, error, watch, signal);
  }
}

async function follow(source: MediaSource, text: string, signal: AbortSignal): Promise<Response> {
  let url = text;
  for (let hops = 0; ; hops += 1) {
    if (!isMediaUrl(source, url)) {
      throw trouble(
        source.upstream,
        "fail",
        `${hops === 0 ? "an output" : "a redirect of an output"} is at a host it is not known to use`,
      );
    }
    const response = await fetch(url, {
      headers: { Accept: "image/*, video/*", "Accept-Encoding": "identity", "User-Agent": "svc" },
      redirect: "manual",
      proxy: false,
      decompress: false,
      timeout: false,
      signal,
    });
    const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
    if (location === null) return response;
    abandon(response);
    if (hops === MAX_REDIRECTS) throw trouble(source.upstream, "fail", "an output redirects too many times");
    url = URL.parse(location, url)?.href ?? "";
  }
}

function refuseAnswer(upstream: Upstream, response: Response, maxBytes: number): void {
  const fault = faultOf(upstream, response, maxBytes);
  if (fault === undefined) return;
  abandon(response);
  throw fault;
}

function faultOf(
  upstream: Upstream,
  { status, headers }: Response,
  maxBytes: number,
): ProviderError | undefined {
  if (status === 410) return trouble(upstream, "fail", "an output is gone (410)");
  // Also 404: a file may be told before it is there, and finalizing tries only so often.
  if (status !== 200) return trouble(upstream, "retry", `an output was answered with ${status}`);
  if ((headers.get("content-encoding") ?? "identity").toLowerCase() !== "identity") {
    return trouble(upstream, "retry", "an output came compressed, which was not asked for");
  }
  return Number(headers.get("content-length") ?? 0) > maxBytes ? tooLarge(upstream, maxBytes) : undefined;
}

async function* read(
  { upstream }: MediaSource,
  response: Response,
  how: { maxBytes: number; watch: Watch; limits: MediaLimits; caller: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const { watch, limits, maxBytes } = how;
  const reader = response.body?.getReader();
  let sizeBytes = 0;
  try {
    while (reader !== undefined) {
      watch.phase(limits.idleMs, "the rest of an output did not come");
      const { done, value } = await reader.read();
      if (done) return;
      sizeBytes += value.length;
      if (sizeBytes > maxBytes) throw tooLarge(upstream, maxBytes);
      // What the receiver takes to write it down is not the upstream's time.
      watch.rest();
      yield value;
    }
  } catch (error) {
    throw explained(upstream, error, watch, how.caller);
  } finally {
    watch.end();
    reader?.cancel().catch(() => undefined);
  }
}

/** Lets go of an answer nobody will read, so that its connection and its memory are freed. */
function abandon(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}

function tooLarge(upstream: Upstream, maxBytes: number): ProviderError {
  return trouble(upstream, "fail", `an output is larger than ${maxBytes} bytes`);
}

function trouble(upstream: Upstream, disposition: "fail" | "retry", what: string): ProviderError {
  return new ProviderError(disposition, "FINALIZATION_FAILED", upstream.scrub(`${upstream.name}: ${what}`));
}

/** The caller's own abort stays what it is. */
function explained(upstream: Upstream, error: unknown, watch: Watch, caller: AbortSignal): unknown {
  if (caller.aborted) return caller.reason;
  if (error instanceof ProviderError) return error;
  return trouble(upstream, "retry", reasonOf(watch.signal.aborted ? watch.signal.reason : error));
}

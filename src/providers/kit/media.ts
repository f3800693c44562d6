import { ProviderError } from "../../domain/ports/provider.ts";
import { abandon, isDeclaredLarger, readBounded } from "../../toolkit/bounded-body.ts";
import { type Deadline, startDeadline } from "../../toolkit/deadline.ts";
import { followRedirects } from "../../toolkit/redirects.ts";
import { reasonOf, type Upstream } from "./http.ts";

export interface MediaLimits {
  /** Until the answer's headers, redirects included. */
  readonly answerMs: number;
  /** The longest pause between two pieces. */
  readonly idleMs: number;
  /** For the whole file. */
  readonly totalMs: number;
}

export const MEDIA_LIMITS: MediaLimits = { answerMs: 30_000, idleMs: 30_000, totalMs: 600_000 };

export interface MediaSource {
  readonly upstream: Upstream;
  /** Other hosts that serve the upstream's files. `.example.com` means every name below it. */
  readonly hosts: readonly string[];
  readonly limits?: MediaLimits | undefined;
}

const MAX_REDIRECTS = 3;

/** Whether a file may be fetched from a URL: at the upstream's own origin, or over https at one of the source's hosts. */
export function isMediaUrl({ upstream, hosts }: MediaSource, text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.origin === upstream.origin) return true;
  if (url.protocol !== "https:" || url.port !== "") return false;
  return hosts.some((host) => (host.startsWith(".") ? url.hostname.endsWith(host) : url.hostname === host));
}

/**
 * Fetches a file that an upstream made, without credentials. Checks each redirect like the first URL.
 *
 * @throws ProviderError `fail` when the file cannot be had; `retry` when it may be available later
 */
export async function fetchMedia(
  source: MediaSource,
  text: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  signal.throwIfAborted();
  const { upstream, limits = MEDIA_LIMITS } = source;
  const deadline = startDeadline(upstream.clock, signal, {
    delayMs: limits.totalMs,
    what: "the file did not come",
  });
  deadline.phase(limits.answerMs, "no answer");
  try {
    const response = await follow(source, text, deadline.signal);
    const fault = faultOf(upstream, response, maxBytes);
    if (fault !== undefined) {
      abandon(response);
      throw fault;
    }
    return readBounded(response, {
      maxBytes,
      tooLarge: () => tooLarge(upstream, maxBytes),
      idle: { deadline, delayMs: limits.idleMs, what: "the rest of an output did not come" },
      explain: (error) => explained(upstream, error, deadline, signal),
    });
  } catch (error) {
    deadline.end();
    throw explained(upstream, error, deadline, signal);
  }
}

function follow(source: MediaSource, text: string, signal: AbortSignal): Promise<Response> {
  const refuse = (what: string) => trouble(source.upstream, "fail", what);
  const request = async (url: string, hops: number) => {
    if (!isMediaUrl(source, url)) {
      throw refuse(
        `${hops === 0 ? "an output" : "a redirect of an output"} is at a host it is not known to use`,
      );
    }
    return await fetch(url, {
      headers: { Accept: "image/*, video/*", "Accept-Encoding": "identity", "User-Agent": "svc" },
      redirect: "manual",
      proxy: false,
      decompress: false,
      timeout: false,
      signal,
    });
  };
  return followRedirects(text, request, {
    max: MAX_REDIRECTS,
    refuse: (problem) => refuse(`an output ${problem}`),
  });
}

function faultOf(
  upstream: Upstream,
  { status, headers }: Response,
  maxBytes: number,
): ProviderError | undefined {
  if (status === 410) return trouble(upstream, "fail", "an output is gone (410)");
  // Includes 404: an upstream may announce a file before it exists, and finalizing limits the tries.
  if (status !== 200) return trouble(upstream, "retry", `an output was answered with ${status}`);
  if ((headers.get("content-encoding") ?? "identity").toLowerCase() !== "identity") {
    return trouble(upstream, "retry", "an output came compressed, which was not asked for");
  }
  return isDeclaredLarger({ headers }, maxBytes) ? tooLarge(upstream, maxBytes) : undefined;
}

function tooLarge(upstream: Upstream, maxBytes: number): ProviderError {
  return trouble(upstream, "fail", `an output is larger than ${maxBytes} bytes`);
}

function trouble(upstream: Upstream, disposition: "fail" | "retry", what: string): ProviderError {
  return new ProviderError(disposition, "FINALIZATION_FAILED", upstream.scrub(`${upstream.name}: ${what}`));
}

/** An abort by the caller keeps its reason. */
function explained(upstream: Upstream, error: unknown, deadline: Deadline, caller: AbortSignal): unknown {
  if (caller.aborted) return caller.reason;
  if (error instanceof ProviderError) return error;
  return trouble(upstream, "retry", reasonOf(deadline.signal.aborted ? deadline.signal.reason : error));
}

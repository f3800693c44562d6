import { type Egress, EgressError } from "../../domain/ports/egress.ts";
import { ProviderError } from "../../domain/ports/provider.ts";
import type { Deadline } from "../../toolkit/deadline.ts";
import { type DownloadLimits, startDownload } from "../../toolkit/download.ts";
import { followRedirects } from "../../toolkit/redirects.ts";
import { NoAnswer, reasonOf, SENT_ALWAYS, type Upstream } from "./http.ts";
import { isBelow } from "./origins.ts";

const MEDIA_LIMITS: DownloadLimits = { answerMs: 30_000, idleMs: 30_000, totalMs: 600_000 };

export interface MediaSource {
  readonly upstream: Upstream;
  /** Other hosts that serve the upstream's files. `*.example.com` means every name below it. */
  readonly hosts: readonly string[];
  /** Files at the upstream's own origins need its key. */
  readonly withKey?: boolean | undefined;
  readonly limits?: DownloadLimits | undefined;
}

const MAX_REDIRECTS = 3;
const HEADERS = { Accept: "image/*, video/*", ...SENT_ALWAYS };

/**
 * Where a file is fetched that an upstream says is at a URL; undefined where it may not be fetched from there. Storage that speaks https,
 * and APIs behind a proxy that does, are often named with http.
 */
export function mediaUrlOf(source: MediaSource, text: string): string | undefined {
  if (isMediaUrl(source, text)) return text;
  const secure = overHttps(text);
  return secure !== undefined && isMediaUrl(source, secure) ? secure : undefined;
}

/** The same address over https; undefined for one that is not of http, or names a port. */
function overHttps(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || url.protocol !== "http:" || url.port !== "") return undefined;
  url.protocol = "https:";
  return url.href;
}

/** Whether a file may be fetched from a URL: at one of the upstream's own origins, or over https at one of the source's hosts. */
function isMediaUrl({ upstream, hosts }: MediaSource, text: string): boolean {
  if (upstream.isOwn(text)) return true;
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.protocol !== "https:" || url.port !== "") return false;
  return hosts.some((host) => {
    if (host === ANY_PUBLIC_NAME) return isPublicName(url.hostname);
    return host.startsWith("*.") ? isBelow(url.hostname, [host.slice(1)]) : url.hostname === host;
  });
}

const ANY_PUBLIC_NAME = "*";
const PRIVATE_NAMES = [".localhost", ".local", ".internal", ".intranet", ".lan", ".arpa"];

/** Whether a host is a name of the public kind. Addresses are none. */
function isPublicName(hostname: string): boolean {
  return /\.[a-z][a-z0-9-]*$/.test(hostname) && !isBelow(hostname, PRIVATE_NAMES);
}

/**
 * Fetches a file that an upstream made. Checks each redirect like the first URL. The key, where files need it, goes to the origin that
 * the first URL is at, and no further than to the first redirect elsewhere.
 *
 * @throws ProviderError `fail` when the file cannot be had; `retry` when it may be available later
 */
export function fetchMedia(
  source: MediaSource,
  text: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { upstream, limits = MEDIA_LIMITS } = source;
  return startDownload(
    {
      clock: upstream.clock,
      limits,
      maxBytes,
      request: (each) => follow(source, text, each),
      refuseStatus: (status) => statusFault(upstream, status),
      tooLarge: () => trouble(upstream, "fail", `an output is larger than ${maxBytes} bytes`),
      explain: (error, deadline) => explained(upstream, error, deadline),
    },
    signal,
  );
}

/** A redirect leads to where the upstream is not known to keep files. */
class LedElsewhere extends ProviderError {
  constructor(
    message: string,
    readonly url: string,
  ) {
    super("fail", "FINALIZATION_FAILED", message);
  }
}

interface WantedFile {
  readonly url: string;
  readonly maxBytes: number;
}

/**
 * Fetches a file that may also be at any public address, or be redirected there: to a bucket, say. Such an address gets no key. It is
 * reached through the account's proxy, which alone may lead out and resolves the name; where there is none, through the guard against
 * private addresses.
 *
 * @throws ProviderError like `fetchMedia`
 */
export async function fetchFromAnywhere(
  source: MediaSource,
  fetchPublic: Egress["fetchMedia"] | undefined,
  { url, maxBytes }: WantedFile,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  if (fetchPublic === undefined) return fetchMedia(source, url, maxBytes, signal);
  const isProxied = source.upstream.proxy !== undefined;
  const reached = isProxied ? { ...source, hosts: [...source.hosts, ANY_PUBLIC_NAME] } : source;
  if (mediaUrlOf(reached, url) === undefined)
    return fetchPublicly(source, fetchPublic, { url, maxBytes }, signal);
  try {
    return await fetchMedia(reached, url, maxBytes, signal);
  } catch (error) {
    if (!(error instanceof LedElsewhere)) throw error;
    return fetchPublicly(source, fetchPublic, { url: error.url, maxBytes }, signal);
  }
}

async function fetchPublicly(
  source: MediaSource,
  fetchPublic: Egress["fetchMedia"],
  { url, maxBytes }: WantedFile,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { limits = MEDIA_LIMITS } = source;
  const fetchAt = (address: string) => fetchPublic(address, { maxBytes, signal, limits });
  try {
    return await fetchAt(url).catch((error: unknown) => {
      const secure = overHttps(url);
      const isRefused = error instanceof EgressError && error.reason === "forbidden";
      if (!isRefused || secure === undefined) throw error;
      return fetchAt(secure);
    });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const isFinal = error.reason === "forbidden" || error.reason === "too_large";
    const detail = `${source.upstream.name}: an output ${error.message}`;
    const details = { isFailure: isRefusal(error.status) };
    throw new ProviderError(isFinal ? "fail" : "retry", "FINALIZATION_FAILED", detail, details, error);
  }
}

function follow(source: MediaSource, text: string, signal: AbortSignal): Promise<Response> {
  const refuse = (what: string) => trouble(source.upstream, "fail", what);
  const { upstream, withKey = false } = source;
  const first = URL.parse(mediaUrlOf(source, text) ?? text)?.origin;
  let isKeyed = withKey;
  const request = async (given: string, hops: number) => {
    const url = mediaUrlOf(source, given);
    if (url === undefined && hops === 0) throw refuse("an output is at a host it is not known to use");
    if (url === undefined)
      throw new LedElsewhere(
        upstream.scrub(`${upstream.name}: a redirect of an output is at a host it is not known to use`),
        given,
      );
    isKeyed &&= upstream.isOwn(url) && URL.parse(url)?.origin === first;
    const unsigned = { method: "GET", url: new URL(url), headers: HEADERS };
    const signed = isKeyed ? await upstream.sign(unsigned, signal) : undefined;
    const { url: to, headers } = signed ?? unsigned;
    const init: BunFetchRequestInit = {
      headers,
      redirect: "manual",
      proxy: upstream.proxy ?? false,
      decompress: false,
      timeout: false,
      signal,
    };
    const { network, secrets } = upstream;
    const response = await network.send({ ...{ url: to, init, unsigned, secrets }, use: "file" });
    if (response.status === 401 && signed !== undefined) upstream.onRefused?.(signed);
    return response;
  };
  return followRedirects(text, request, {
    max: MAX_REDIRECTS,
    refuse: (problem) => refuse(`an output ${problem}`),
  });
}

function statusFault(upstream: Upstream, status: number): ProviderError | undefined {
  if (status === 410) return trouble(upstream, "fail", "an output is gone (410)");
  if (status === 200) return undefined;
  return trouble(upstream, "retry", `an output was answered with ${status}`, {
    isFailure: isRefusal(status),
  });
}

/** Request timeout, too early, too many requests. */
const MAY_PASS: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Whether a status refuses a file. An upstream may announce one before it exists, so this is no last word. Much waiting does not help
 * with it, though.
 */
function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && !MAY_PASS.has(status);
}

function trouble(
  upstream: Upstream,
  disposition: "fail" | "retry",
  what: string,
  details: ProviderError["details"] = {},
): ProviderError {
  const text = upstream.scrub(`${upstream.name}: ${what}`);
  return new ProviderError(disposition, "FINALIZATION_FAILED", text, details);
}

function explained(upstream: Upstream, error: unknown, deadline: Deadline): unknown {
  if (error instanceof ProviderError) return error;
  if (error instanceof NoAnswer) return new ProviderError("retry", "FINALIZATION_FAILED", error.message);
  return trouble(upstream, "retry", reasonOf(deadline.signal.aborted ? deadline.signal.reason : error));
}

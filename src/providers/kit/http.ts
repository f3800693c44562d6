import { unescape as plain } from "node:querystring";
import type { Json } from "../../domain/json.ts";
import { ProviderError, type Tracing } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { type Deadline, DeadlineExceeded, startDeadline } from "../../toolkit/deadline.ts";
import { readAnswer, type UpstreamAnswer } from "./answer.ts";
import { type Credentials, type SignedRequest, sign, type UnsignedRequest } from "./credentials.ts";
import type { EventTaker } from "./events.ts";
import { NETWORK, type Network, type Secrets, type Use } from "./network.ts";
import { createOriginCheck, type OriginCheck } from "./origins.ts";
import type { Refusal } from "./refusal.ts";
import { createSecrets, type Scrub } from "./scrub.ts";
import { type SeenExchange, seenExchange } from "./seen.ts";

/** How long the phases of one exchange may take. */
export interface HttpLimits {
  /** Until the connection is open and accepts the request. */
  readonly connectMs: number;
  /** From then until the answer's headers. */
  readonly answerMs: number;
  /** For the whole body. A stream of events has `answerMs` in addition. */
  readonly bodyMs: number;
}

export interface UpstreamOptions {
  /** For messages to operators. */
  readonly name: string;
  /** Scheme, host and an optional path. */
  readonly baseUrl: string;
  /** Further origins that the key may go to. `https://*.example.com` means every name below it. */
  readonly origins?: readonly string[] | undefined;
  /** Sent only to the base URL's origin and to `origins`. */
  readonly credentials: Credentials;
  /** Texts that must not appear in any error. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly limits: HttpLimits;
  /** Answer headers that may hold the upstream's request id, the preferred one first. Default: `x-request-id`. */
  readonly requestIdHeaders?: readonly string[] | undefined;
  /**
   * Told of each request as it left whose credentials the upstream refuses (401). Where it returns true, other credentials may be
   * accepted, and the request is sent once more.
   */
  readonly onRefused?: ((request: SignedRequest) => boolean) | undefined;
  /** Told of each answer and what it answers, without secrets. */
  readonly onExchange?: ((exchange: SeenExchange) => void) | undefined;
  /** The proxy that every request goes through, as an http or https URL. */
  readonly proxy?: string | undefined;
  /** The runtime's unless given. */
  readonly network?: Network | undefined;
  /** What its requests are for: `call` unless given. */
  readonly use?: Use | undefined;
}

export interface UpstreamRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** A path below the base URL, or an absolute URL at one of its origins. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly bytes: Uint8Array } | undefined;
  /** A longer answer counts as no answer. */
  readonly maxBytes: number;
  /** Receives the events of a successful answer that is an event stream. Such an answer has no `json`. */
  readonly events?: EventTaker | undefined;
  readonly tracing?: Tracing | undefined;
  /** The body of a success is a file: all but JSON and text comes as `bytes`. */
  readonly bytes?: true | undefined;
  /** Reads the body of a success in place of the usual reader. What it returns is the answer's `json`. */
  readonly read?: ((body: AsyncIterable<Uint8Array>) => Promise<Json | undefined>) | undefined;
}

/**
 * No usable answer came. `isUnsent`: the request never left, so it had no effect. `isLate`: it did not come in time. `refusal`: what was
 * refused before, such as a token, for which it never left.
 */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  constructor(
    readonly isUnsent: boolean,
    message: string,
    readonly isLate = false,
    readonly refusal?: Refusal,
  ) {
    super(message);
  }
}

export interface Upstream extends Pick<UpstreamOptions, "onRefused"> {
  readonly name: string;
  readonly origin: string;
  readonly clock: Clock;
  readonly requestIdHeaders: readonly string[];
  readonly scrub: Scrub;
  readonly secrets: Secrets;
  readonly network: Network;
  /** The proxy that requests go through, also those for files. */
  readonly proxy: string | undefined;
  /** Whether the key may be sent to an address. */
  isOwn(url: string): boolean;
  /** Keeps a secret that came up later out of every error. */
  keepSecret(secret: string): void;
  /** Adds the credentials to a request to one of its origins, which the caller sends. @throws like `send` for what never left */
  sign(request: UnsignedRequest, signal: AbortSignal): Promise<SignedRequest>;
  /** @throws NoAnswer, or the signal's reason when it aborts */
  send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
}

/** The only way to an upstream's API. Follows redirects of questions, to its own origins; uses only its own proxy. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, clock, proxy, requestIdHeaders = ["x-request-id"], network = NETWORK } = options;
  const base = options.baseUrl.replace(/\/+$/, "");
  const { origin } = new URL(base);
  const isOwn = createOriginCheck([origin, ...(options.origins ?? [])]);
  const { keep, scrub, ...secrets } = createSecrets([...options.secrets, ...secretsOf(proxy)]);
  const notOwn = () => new NoAnswer(true, `${name}: the address is not at ${origin}; the key stays here`);
  const through = proxy === undefined ? "" : " (through the proxy)";
  const noAnswer = (isUnsent: boolean, error: unknown, isLate?: boolean) =>
    new NoAnswer(isUnsent, `${name}: ${scrub(reasonOf(error))}${through}`, isLate);

  const signed: Upstream["sign"] = async (request, signal) => {
    signal.throwIfAborted();
    if (!isOwn(request.url)) throw notOwn();
    try {
      return await sign(network.isPlayed ? {} : options.credentials, request, keep, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NoAnswer) throw notSigned(error, scrub);
      throw error instanceof ProviderError ? error : noAnswer(true, error);
    }
  };

  const sendTo = async (url: URL, request: UpstreamRequest, signal: AbortSignal) => {
    const unsigned = toUnsigned(request, url);
    const to = await signed(unsigned, signal);
    const deadline = startDeadline(clock, signal);
    const sending = { hasBegun: false };
    try {
      const leaving = { ...request, ...to, unsigned };
      const answer = await exchange({ ...options, network, secrets }, leaving, deadline, sending);
      request.tracing?.answered(answer.status, requestIdIn({ scrub, requestIdHeaders }, answer.headers));
      options.onExchange?.(seenExchange(unsigned, to, answer, scrub));
      const isAgain = answer.status === 401 && options.onRefused?.(to) === true;
      return { answer, isAgain: isAgain && network.isPlayed !== true };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NoAnswer || error instanceof ProviderError) throw error;
      const reason: unknown = deadline.signal.aborted ? deadline.signal.reason : error;
      throw noAnswer(!sending.hasBegun, reason, reason instanceof DeadlineExceeded);
    } finally {
      deadline.end();
    }
  };

  return {
    name,
    origin,
    clock,
    requestIdHeaders,
    ...{ scrub, secrets, network, proxy, keepSecret: keep, sign: signed, onRefused: options.onRefused },
    isOwn: (url) => isOwn(URL.parse(url)),
    async send(request, signal) {
      const first = URL.parse(request.url.startsWith("/") ? base + request.url : request.url);
      if (first === null) throw notOwn();
      return followed(request, first, isOwn, (url) => sendTo(url, request, signal));
    },
  };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 3;

/**
 * The answer to a request. A question is asked again where it is redirected, if the key may go there, and any request where its
 * credentials are refused and others may be accepted. Nothing else is sent twice.
 */
async function followed(
  { method }: UpstreamRequest,
  first: URL,
  isOwn: OriginCheck,
  send: (url: URL) => Promise<{ readonly answer: UpstreamAnswer; readonly isAgain: boolean }>,
): Promise<UpstreamAnswer> {
  let url = first;
  for (let hops = 0; ; hops += 1) {
    const sent = await send(url);
    const { answer } = sent.isAgain ? await send(url) : sent;
    const location = answer.headers.get("location");
    const isRedirect = method === "GET" && REDIRECTS.has(answer.status) && location !== null;
    const next = isRedirect ? URL.parse(location, url.href) : null;
    if (next === null || hops === MAX_REDIRECTS || !isOwn(next)) return answer;
    url = next;
  }
}

/** Without credentials, whatever became of the request for them, the request itself never left. */
function notSigned({ message, isLate, refusal }: NoAnswer, scrub: Scrub): NoAnswer {
  const scrubbed = refusal && { ...refusal, detail: scrub(refusal.detail), inputProblem: undefined };
  return new NoAnswer(true, scrub(message), isLate, scrubbed);
}

function toUnsigned({ method, headers, body, tracing }: UpstreamRequest, url: URL): UnsignedRequest {
  const { traceparent } = tracing ?? {};
  const content =
    body === undefined ? {} : { "Content-Type": body.type, "Content-Length": String(body.bytes.length) };
  return {
    method,
    url,
    headers: {
      Accept: "application/json",
      ...SENT_ALWAYS,
      ...(traceparent && { traceparent }),
      ...headers,
      ...content,
    },
    body,
  };
}

/** Headers of every request. */
export const SENT_ALWAYS = { "Accept-Encoding": "identity", "User-Agent": "svc" } as const;

async function exchange(
  {
    name,
    limits,
    proxy,
    clock,
    network,
    secrets,
    use = "call",
  }: Omit<UpstreamOptions, "secrets"> & Pick<Upstream, "network" | "secrets">,
  request: Omit<UpstreamRequest, keyof SignedRequest> &
    SignedRequest & { readonly unsigned: UnsignedRequest },
  deadline: Deadline,
  sending: { hasBegun: boolean },
): Promise<UpstreamAnswer> {
  const { method, url, headers, body, tracing, unsigned } = request;
  const start = clock.elapsed();
  // The runtime starts reading the body once the connection is open. Before that, nothing was sent.
  async function* send(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    sending.hasBegun = true;
    deadline.phase(limits.answerMs, "no answer");
    const open = clock.elapsed();
    tracing?.took("connect", open - start);
    yield bytes;
    tracing?.took("upload", clock.elapsed() - open);
  }
  if (body === undefined) {
    sending.hasBegun = true;
    deadline.phase(limits.connectMs + limits.answerMs, "no answer");
  } else deadline.phase(limits.connectMs, "no connection");
  const init: BunFetchRequestInit = {
    method,
    headers,
    ...(body === undefined ? {} : { body: send(body.bytes) }),
    // A reused connection may be dead, and the runtime would then send the request a second time.
    ...(method === "GET" ? {} : { keepalive: false }),
    redirect: "manual",
    proxy: proxy ?? false,
    decompress: false,
    // Some pictures take longer than the runtime's own limit of five minutes. The deadline applies instead.
    timeout: false,
    signal: deadline.signal,
    ...(url.protocol === "https:" ? { protocol: "http1.1" } : {}),
  };
  const response = await network.send({ ...{ url, init, unsigned, use, secrets } });
  const tooLarge = (bytes: number) =>
    new NoAnswer(false, `${name}: the answer is larger than ${bytes} bytes`);
  return await readAnswer(response, { ...request, limits, deadline, tooLarge });
}

/** What the upstream calls the request that it answers. */
export function requestIdIn(
  { scrub, requestIdHeaders }: Pick<Upstream, "scrub" | "requestIdHeaders">,
  headers: Headers,
): string | undefined {
  const id = requestIdHeaders.map((header) => headers.get(header)).find((value) => value !== null);
  return id && scrub(id).slice(0, MOST_OF_REQUEST_ID);
}

/** Characters of an id that are told. */
const MOST_OF_REQUEST_ID = 200;

/** What a proxy's address holds that nobody should see. */
function secretsOf(proxy: string | undefined): string[] {
  const { username = "", password = "" } = (proxy === undefined ? null : URL.parse(proxy)) ?? {};
  if (password === "") return [];
  const pair = `${plain(username)}:${plain(password)}`;
  return [password, plain(password), Buffer.from(pair).toString("base64")];
}

/** Why an exchange failed, in a few words. */
export function reasonOf(error: unknown): string {
  if (error instanceof DeadlineExceeded) return error.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  // When a tunnel fails, the message has the proxy's status. Other messages may repeat the address, and what is signed into it.
  if (/^[A-Za-z]\w+$/.test(code) && code !== "ERR_PROXY_TUNNEL") return code;
  return error instanceof Error ? error.message : String(error);
}

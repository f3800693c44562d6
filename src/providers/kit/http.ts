import type { Json } from "../../domain/json.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { readBounded } from "../../toolkit/bounded-body.ts";
import { type Deadline, DeadlineExceeded, startDeadline } from "../../toolkit/deadline.ts";
import { createEventReader, type EventTaker, isEventStream } from "./events.ts";
import { readJsonAnswer } from "./json-answer.ts";
import { createScrub, type Scrub } from "./scrub.ts";

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
  /** Scheme, host and an optional path. The key is never sent to another origin. */
  readonly baseUrl: string;
  /** Headers that carry the key, sent only to the base URL's origin. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Texts that must not appear in any error. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly limits: HttpLimits;
  /** Answer headers that may hold the upstream's request id, the preferred one first. Default: `x-request-id`. */
  readonly requestIdHeaders?: readonly string[] | undefined;
}

export interface UpstreamRequest {
  readonly method: "GET" | "POST" | "PUT";
  /** A path below the base URL, or an absolute URL at its origin. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly bytes: Uint8Array } | undefined;
  /** A longer answer counts as no answer. */
  readonly maxBytes: number;
  /** Receives the events of a successful answer that is an event stream. Such an answer has no `json`. */
  readonly events?: EventTaker | undefined;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when the body is not JSON. */
  readonly json: Json | undefined;
  /** Long base64 strings of `json`; `bytesOf` reads them. */
  readonly files?: ReadonlyMap<string, Uint8Array> | undefined;
  /** The beginning of a body that is not JSON. */
  readonly text?: string | undefined;
  /** Set for an event stream, whose events were passed on as they arrived. */
  readonly isEvents?: true | undefined;
}

/** No usable answer came. `isUnsent`: the request never left, so it had no effect. `isLate`: it did not come in time. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  constructor(
    readonly isUnsent: boolean,
    message: string,
    readonly isLate = false,
  ) {
    super(message);
  }
}

export interface Upstream {
  readonly name: string;
  readonly origin: string;
  readonly clock: Clock;
  readonly requestIdHeaders: readonly string[];
  readonly scrub: Scrub;
  /** Whether the key may be sent to an address. */
  isOwn(url: string): boolean;
  /** @throws NoAnswer, or the signal's reason when it aborts */
  send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
}

/** The one way to an upstream's API. Follows no redirect, uses no proxy and unpacks no compression. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, clock, secrets, requestIdHeaders = ["x-request-id"] } = options;
  const base = options.baseUrl.replace(/\/+$/, "");
  const { origin } = new URL(base);
  const scrub = createScrub(secrets);
  const resolve = (url: string) => URL.parse(url.startsWith("/") ? base + url : url);
  return {
    name,
    origin,
    clock,
    requestIdHeaders,
    scrub,
    isOwn: (url) => isAt(URL.parse(url), origin),
    async send(request, signal) {
      signal.throwIfAborted();
      const url = resolve(request.url);
      if (url === null || !isAt(url, origin)) {
        throw new NoAnswer(true, `${name}: the address is not at ${origin}; the key stays here`);
      }
      const deadline = startDeadline(clock, signal);
      const sending = { hasBegun: false };
      try {
        return await exchange(options, { ...request, url }, deadline, sending);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof NoAnswer) throw error;
        const reason: unknown = deadline.signal.aborted ? deadline.signal.reason : error;
        const isLate = reason instanceof DeadlineExceeded;
        throw new NoAnswer(!sending.hasBegun, `${name}: ${scrub(reasonOf(reason))}`, isLate);
      } finally {
        deadline.end();
      }
    },
  };
}

function isAt(url: URL | null, origin: string): boolean {
  return url !== null && url.origin === origin && url.username === "" && url.password === "";
}

async function exchange(
  options: UpstreamOptions,
  request: Omit<UpstreamRequest, "url"> & { readonly url: URL },
  deadline: Deadline,
  sending: { hasBegun: boolean },
): Promise<UpstreamAnswer> {
  const { limits, credentials } = options;
  const { method, url, body } = request;
  // The runtime starts reading the body once the connection is open. Before that, nothing was sent.
  async function* send(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    sending.hasBegun = true;
    deadline.phase(limits.answerMs, "no answer");
    yield bytes;
  }
  if (body === undefined) {
    sending.hasBegun = true;
    deadline.phase(limits.connectMs + limits.answerMs, "no answer");
  } else deadline.phase(limits.connectMs, "no connection");
  const response = await fetch(url, {
    method,
    headers: {
      Accept: "application/json",
      "Accept-Encoding": "identity",
      "User-Agent": "svc",
      ...request.headers,
      ...credentials,
      ...(body === undefined
        ? {}
        : { "Content-Type": body.type, "Content-Length": String(body.bytes.length) }),
    },
    // A reused connection may be dead, and the runtime would then send the request a second time.
    ...(body === undefined ? {} : { body: send(body.bytes), keepalive: false }),
    redirect: "manual",
    proxy: false,
    decompress: false,
    // Some pictures take longer than the runtime's own limit of five minutes. The deadline applies instead.
    timeout: false,
    signal: deadline.signal,
    ...(url.protocol === "https:" ? { protocol: "http1.1" } : {}),
  });
  return await readAnswer(options, request, response, deadline);
}

async function readAnswer(
  { name, limits }: UpstreamOptions,
  { events, maxBytes }: Pick<UpstreamRequest, "events" | "maxBytes">,
  response: Response,
  deadline: Deadline,
): Promise<UpstreamAnswer> {
  const { status, headers } = response;
  const late = "the rest of the answer did not come";
  const body = readBounded(response, { maxBytes, tooLarge: () => tooLarge(name, maxBytes) });
  if (events !== undefined && isEventStream(response)) {
    // The headers come at once; the upstream works while it sends the body.
    deadline.phase(limits.answerMs + limits.bodyMs, late);
    const reader = createEventReader(events, () => tooLarge(name, events.maxBytes));
    for await (const chunk of body) if (!reader.feed(chunk)) break;
    reader.end();
    return { status, headers, json: undefined, isEvents: true };
  }
  deadline.phase(limits.bodyMs, late);
  return { status, headers, ...(await readJsonAnswer(body)) };
}

function tooLarge(name: string, maxBytes: number): NoAnswer {
  return new NoAnswer(false, `${name}: the answer is larger than ${maxBytes} bytes`);
}

/** Why an exchange failed, in a few words. */
export function reasonOf(error: unknown): string {
  if (error instanceof DeadlineExceeded) return error.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/^[A-Z][A-Z0-9_]+$/.test(code)) return code;
  return error instanceof Error ? error.message : String(error);
}

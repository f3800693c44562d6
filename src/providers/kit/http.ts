import type { Json } from "../../domain/json.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { readBounded } from "../../toolkit/bounded-body.ts";
import { type Deadline, DeadlineExceeded, startDeadline } from "../../toolkit/deadline.ts";
import { createEventReader, type EventTaker, isEventStream } from "./events.ts";
import { createScrub, type Scrub } from "./scrub.ts";

/** How long the phases of one exchange may take. */
export interface HttpLimits {
  /** Until the connection is there and takes the request. */
  readonly connectMs: number;
  /** From then to the head of the answer. */
  readonly answerMs: number;
  /** All of the answer's body; of one that comes as events, beyond the time for an answer. */
  readonly bodyMs: number;
}

export interface UpstreamOptions {
  /** For messages to operators. */
  readonly name: string;
  /** Scheme, host, and a path if need be. No request that carries the key goes to another origin. */
  readonly baseUrl: string;
  /** What proves who we are; sent to the base's origin alone. */
  readonly credentials: Readonly<Record<string, string>>;
  /** What must show in no error. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly limits: HttpLimits;
  /** Headers of its answers that identify a request to its support, the best first; `x-request-id` unless given. */
  readonly requestIdHeaders?: readonly string[] | undefined;
}

export interface UpstreamRequest {
  readonly method: "GET" | "POST" | "PUT";
  /** Below the base, or absolute at its origin. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly bytes: Uint8Array } | undefined;
  /** A longer answer counts as none. */
  readonly maxBytes: number;
  /** Takes the events of a successful answer that is a stream of them, which then has no `json`. */
  readonly events?: EventTaker | undefined;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when the body is not JSON. */
  readonly json: Json | undefined;
  /** Its events were handed over as they came. */
  readonly isEvents?: true | undefined;
}

/** There is no answer to go by. `unsent`: the request never left, so nothing can have come of it. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  constructor(
    readonly isUnsent: boolean,
    message: string,
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
  /** Whether an address is one the key may be sent to. */
  isOwn(url: string): boolean;
  /** @throws NoAnswer, or the signal's reason when it aborts */
  send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
}

/** The one way to an upstream's API. Redirects, proxies and compressed answers are not followed, used or unpacked. */
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
        const why = scrub(reasonOf(deadline.signal.aborted ? deadline.signal.reason : error));
        throw new NoAnswer(!sending.hasBegun, `${name}: ${why}`);
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
  // Taken by the runtime when the connection is there: until then, certainly nothing was sent.
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
    // A connection that was used before may be dead, and the runtime then sends again by itself.
    ...(body === undefined ? {} : { body: send(body.bytes), keepalive: false }),
    redirect: "manual",
    proxy: false,
    decompress: false,
    // The runtime's own limit of five minutes is shorter than some pictures take; ours are set above.
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
    // The head comes at once, and the work is done while the body is under way.
    deadline.phase(limits.answerMs + limits.bodyMs, late);
    const reader = createEventReader(events, () => tooLarge(name, events.maxBytes));
    for await (const chunk of body) if (!reader.feed(chunk)) break;
    reader.end();
    return { status, headers, json: undefined, isEvents: true };
  }
  deadline.phase(limits.bodyMs, late);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { status, headers, json: parse(new TextDecoder().decode(Buffer.concat(chunks))) };
}

function tooLarge(name: string, maxBytes: number): NoAnswer {
  return new NoAnswer(false, `${name}: the answer is larger than ${maxBytes} bytes`);
}

function parse(text: string): Json | undefined {
  try {
    // What JSON.parse returns is JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** What went wrong on the way, in few words. */
export function reasonOf(error: unknown): string {
  if (error instanceof DeadlineExceeded) return error.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/^[A-Z][A-Z0-9_]+$/.test(code)) return code;
  return error instanceof Error ? error.message : String(error);
}

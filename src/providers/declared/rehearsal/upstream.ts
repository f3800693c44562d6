/** An upstream on this machine that answers as it is told, for trying a form without the network. */
export interface RehearsedUpstream {
  /** `http://127.0.0.1:…`. */
  readonly origin: string;
  readonly arrived: RehearsedRequest[];
  stop(): Promise<void>;
}

export interface RehearsedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export interface RehearsedAnswer {
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

/** Below this path the upstream serves files that it has made. */
export const MADE_PATH = "/rehearsed/made";

/** Starts an upstream that gives a picture for every address below `MADE_PATH`, and else what `answer` says. */
export function startRehearsedUpstream(
  answer: (request: RehearsedRequest, origin: string) => RehearsedAnswer,
): RehearsedUpstream {
  const arrived: RehearsedRequest[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    maxRequestBodySize: 64 * 1024 * 1024,
    async fetch(request) {
      const url = new URL(request.url);
      if (url.pathname.startsWith(MADE_PATH)) return new Response(PICTURE.slice());
      const body = await request.bytes();
      const path = url.pathname + url.search;
      const one = { method: request.method, path, headers: request.headers, body };
      arrived.push(one);
      return toResponse(answer(one, url.origin));
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    arrived,
    stop: () => server.stop(true),
  };
}

function toResponse({ status = 200, headers = {}, body }: RehearsedAnswer): Response {
  if (body === undefined) return new Response(null, { status, headers });
  if (/^(?:image|video)\//.test(headers["content-type"] ?? ""))
    return new Response(PICTURE.slice(), { status, headers });
  const isText = typeof body === "string";
  const type = isText ? "text/plain" : "application/json";
  const content = body instanceof Uint8Array ? body.slice() : isText ? body : JSON.stringify(body);
  const usual = body instanceof Uint8Array ? "application/octet-stream" : type;
  return new Response(content, { status, headers: { "content-type": usual, ...headers } });
}

/** A picture of one pixel. */
export const PICTURE: Uint8Array = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==",
  "base64",
);

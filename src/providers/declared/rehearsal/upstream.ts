import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** An upstream on this machine that answers as it is told, for trying a form without the network. */
export interface RehearsedUpstream {
  /** `http://127.0.0.1:…`. */
  readonly origin: string;
  readonly arrived: RehearsedRequest[];
  /** Files that were fetched. */
  served(): number;
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
  /** The answer breaks off. */
  readonly cut?: boolean | undefined;
}

/** Below this path the upstream serves files that it has made. */
export const MADE_PATH = "/rehearsed/made";

/** Starts an upstream that gives a picture for every address below `MADE_PATH`, and else what `answer` says. */
export async function startRehearsedUpstream(
  answer: (request: RehearsedRequest, origin: string) => RehearsedAnswer,
): Promise<RehearsedUpstream> {
  const arrived: RehearsedRequest[] = [];
  let served = 0;
  let origin = "";
  const server = createServer((request, response) => {
    const answered = readAll(request).then((body) => {
      const { method = "GET", url: path = "/" } = request;
      if (path.startsWith(MADE_PATH)) {
        served += 1;
        return void response.end(PICTURE);
      }
      const one = { method, path, headers: headersOf(request), body };
      arrived.push(one);
      return respond(response, answer(one, origin));
    });
    // Its body broke off.
    answered.catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (typeof address === "object" && address !== null) origin = `http://127.0.0.1:${address.port}`;
  return {
    ...{ origin, arrived, served: () => served },
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function readAll(request: IncomingMessage): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(request as AsyncIterable<Uint8Array>));
}

function headersOf({ headers }: IncomingMessage): Headers {
  return new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]));
}

function respond(response: ServerResponse, { status = 200, headers = {}, body, cut }: RehearsedAnswer): void {
  if (cut === true) {
    response.writeHead(200, { "content-type": "application/json", "content-length": "99" });
    response.write("{");
    response.destroy();
    return;
  }
  const isMedia = /^(?:image|video)\//.test(headers["content-type"] ?? "");
  const type = typeof body === "string" ? "text/plain" : "application/json";
  response.writeHead(status, { ...(body === undefined ? {} : { "content-type": type }), ...headers });
  if (isMedia) response.end(PICTURE);
  else response.end(typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body));
}

/** A picture of one pixel. */
export const PICTURE: Uint8Array = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==",
  "base64",
);

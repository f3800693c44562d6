import { createServer, type Socket } from "node:net";

/** One request as it arrived. */
export interface Arrived {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** An answer, or what to do with the connection in place of one. */
export type Scripted =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly json: unknown }
  | {
      readonly status?: number;
      readonly headers?: Record<string, string>;
      readonly body: string | Uint8Array;
    }
  | ((socket: Socket) => void);

export interface ScriptedUpstream {
  readonly origin: string;
  readonly arrived: Arrived[];
  /** Says what to answer; may be changed between requests. */
  answer: (request: Arrived) => Scripted;
  /** Resolves when so many requests have arrived. */
  until(count: number): Promise<void>;
  stop(): void;
}

/** An HTTP server on 127.0.0.1 that answers as the test says, also in ways no server should. */
export async function startUpstream(answer: ScriptedUpstream["answer"]): Promise<ScriptedUpstream> {
  const sockets = new Set<Socket>();
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, Buffer.from(chunk as Uint8Array)]);
      const request = readRequest(received);
      if (request === undefined) return;
      received = Buffer.alloc(0);
      upstream.arrived.push(request);
      for (const waiter of waiting) if (upstream.arrived.length >= waiter.count) waiter.resolve();
      respond(socket, upstream.answer(request));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  const upstream: ScriptedUpstream = {
    origin: `http://127.0.0.1:${address.port}`,
    arrived: [],
    answer,
    until: (count) =>
      upstream.arrived.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  return upstream;
}

function readRequest(received: Buffer): Arrived | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = received.subarray(0, end).toString("latin1").split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(":")),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  const body = received.subarray(end + 4);
  if (body.length < Number(headers.get("content-length") ?? 0)) return undefined;
  return { method, path, headers, body: Buffer.from(body) };
}

function respond(socket: Socket, answer: Scripted): void {
  if (typeof answer === "function") {
    answer(socket);
    return;
  }
  const isJson = "json" in answer;
  const content = Buffer.from(isJson ? JSON.stringify(answer.json) : answer.body);
  const headers = {
    ...(isJson ? { "content-type": "application/json" } : {}),
    "content-length": String(content.length),
    connection: "close",
    ...answer.headers,
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${answer.status ?? 200} Status\r\n${head.join("")}\r\n`);
  socket.end(content);
}

/** Ways of not answering. */
export const MISBEHAVIOURS = {
  "hangs before the head": () => undefined,
  "hangs in the body": (socket: Socket) =>
    void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
  "resets the connection": (socket: Socket) => void socket.resetAndDestroy(),
  "closes without a word": (socket: Socket) => void socket.end(),
  "ends in the middle": (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"data":[');
    socket.end();
  },
  "does not speak HTTP": (socket: Socket) => void socket.end("220 mail.example ready\r\n\r\n"),
} as const satisfies Record<string, Scripted>;

/** Writes without end, a little at a time, for the receiver runs in the same process. */
export function pour(socket: Socket): void {
  const chunk = Buffer.alloc(256 * 1024, " ");
  const write = () => {
    for (let i = 0; i < 8 && socket.writable && socket.writableLength < 1024 * 1024; i += 1)
      socket.write(chunk);
    if (socket.writable) setImmediate(write);
  };
  socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n");
  write();
}

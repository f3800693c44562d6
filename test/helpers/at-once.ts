import { connect, type Socket } from "node:net";

/** An answer as it came over the wire; only `Content-Length` bodies are understood. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const CONNECTED_AT_ONCE = 100;

/**
 * POSTs JSON bodies over a connection each, which are all open before the first byte is sent. (fetch has a limit on how many it
 * opens.)
 */
export async function postAtOnce(
  port: number,
  path: string,
  requests: readonly {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Readonly<Record<string, unknown>>;
  }[],
): Promise<RawAnswer[]> {
  const sockets: Socket[] = [];
  for (let at = 0; at < requests.length; at += CONNECTED_AT_ONCE) {
    const some = requests.slice(at, at + CONNECTED_AT_ONCE);
    sockets.push(...(await Promise.all(some.map(() => open(port)))));
  }
  const answers = sockets.map(readAnswer);
  for (const [i, { headers, body }] of requests.entries()) {
    sockets[i]?.write(requestText(path, headers, JSON.stringify(body)));
  }
  return Promise.all(answers);
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port }, () => resolve(socket));
    socket.once("error", reject);
  });
}

function requestText(path: string, headers: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries({
    Host: "127.0.0.1",
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/** @throws Error when the connection ends before the answer does */
function readAnswer(socket: Socket): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const answer = parse(received);
      if (answer === undefined) return;
      resolve(answer);
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("A connection was closed without an answer.")));
  });
}

function parse(received: Buffer): RawAnswer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = received.toString("latin1", 0, end).split("\r\n");
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = Number(headers.get("content-length"));
  const body = received.subarray(end + 4);
  if (body.length < length) return undefined;
  return { status: Number(first.split(" ")[1]), headers, body: body.toString("utf8", 0, length) };
}

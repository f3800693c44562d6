import { createConnection } from "node:net";

/** An HTTP answer as it came over the socket. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** How a connection ended: with a whole answer, or without one. */
export type Outcome = WireAnswer | "closed";

export interface WireOptions {
  /** Closes the sending half, or all of the connection, once everything is sent. */
  readonly then?: "finish" | "hang up";
  readonly withinMs?: number;
}

const WITHIN_MS = 20_000;
const HEADER_END = "\r\n\r\n";

/**
 * Sends bytes as they are over a connection of their own, and reads one answer. `fetch` would mend or refuse most of what a
 * malformed request is made of.
 *
 * @throws Error when the server neither answers nor closes the connection
 */
export function exchange(port: number, bytes: Uint8Array, options: WireOptions = {}): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const socket = createConnection({ host: "127.0.0.1", port, allowHalfOpen: true });
  let received = Buffer.alloc(0);
  const withinMs = options.withinMs ?? WITHIN_MS;
  const timer = setTimeout(
    () => end(() => reject(new Error(`No answer within ${withinMs} ms.\n${received}`))),
    withinMs,
  );
  const end = (settle: () => void) => {
    clearTimeout(timer);
    socket.destroy();
    settle();
  };
  const finish = (isOver: boolean) => {
    const answer = readAnswer(received, isOver);
    if (answer !== undefined) end(() => resolve(answer));
    else if (isOver) end(() => resolve("closed"));
  };
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    finish(false);
  });
  socket.on("end", () => finish(true));
  socket.on("close", () => finish(true));
  // A server that refuses a body may close while it is still being sent.
  socket.on("error", () => finish(true));
  socket.write(bytes, () => {
    if (options.then === "finish") socket.end();
    if (options.then === "hang up") end(() => resolve("closed"));
  });
  return promise;
}

/** The first answer in what was received that is not an interim one; undefined while it is incomplete. */
function readAnswer(received: Buffer, isOver: boolean): WireAnswer | undefined {
  const headEnd = received.indexOf(HEADER_END);
  if (headEnd === -1) return undefined;
  const [start = "", ...lines] = received.subarray(0, headEnd).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(start)?.[1]);
  const rest = received.subarray(headEnd + HEADER_END.length);
  if (status < 200) return readAnswer(rest, isOver);
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const body = readBody(rest, headers, isOver);
  return body === undefined ? undefined : { status, headers, body };
}

function readBody(rest: Buffer, headers: Headers, isOver: boolean): string | undefined {
  const length = headers.get("content-length");
  if (length !== null) {
    return rest.length < Number(length) && !isOver
      ? undefined
      : rest.subarray(0, Number(length)).toString("utf8");
  }
  if (headers.get("transfer-encoding") === "chunked") return readChunks(rest);
  return isOver ? rest.toString("utf8") : undefined;
}

function readChunks(rest: Buffer): string | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(rest.subarray(at, lineEnd).toString("latin1"), 16);
    const start = lineEnd + 2;
    if (rest.length < start + size + 2) return undefined;
    if (size === 0) return Buffer.concat(chunks).toString("utf8");
    chunks.push(rest.subarray(start, start + size));
    at = start + size + 2;
  }
}

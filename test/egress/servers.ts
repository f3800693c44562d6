import { createServer, type Socket } from "node:net";
import { createEgress, type EgressOptions } from "../../src/egress/egress.ts";

export interface RawServer extends AsyncDisposable {
  readonly port: number;
  /** Each request's head and whatever of its body came with it. */
  readonly requests: string[];
  readonly connections: { opened: number; open: number };
}

/** A server on 127.0.0.1 that answers with bytes of its own choosing, HTTP or not. */
export async function rawServer(answer: (socket: Socket, request: string) => void): Promise<RawServer> {
  const requests: string[] = [];
  const connections = { opened: 0, open: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections.opened += 1;
    connections.open += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      connections.open -= 1;
      sockets.delete(socket);
    });
    let request = "";
    socket.on("data", (chunk) => {
      request += chunk.toString("latin1");
      if (!request.includes("\r\n\r\n")) return;
      requests.push(request);
      answer(socket, request);
      request = "";
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    port: address.port,
    requests,
    connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A whole answer with a right Content-Length. */
export function reply(
  status: number,
  headers: Record<string, string> = {},
  body: string | Uint8Array = "",
): Buffer {
  const content = Buffer.from(body);
  const lines = Object.entries({ ...headers, "Content-Length": String(content.length) }).map(
    ([k, v]) => `${k}: ${v}\r\n`,
  );
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`), content]);
}

/** Writes `chunk` again and again, without waiting for it to be taken, until the connection ends; a little at a time, as the
 * client runs in the same process. A full buffer is looked at again after a moment, which leaves the processor to the client. */
export function pour(socket: Socket, chunk: Uint8Array): void {
  const hasRoom = () => socket.writable && socket.writableLength < 1024 * 1024;
  const write = () => {
    for (let i = 0; i < 16 && hasRoom(); i += 1) socket.write(chunk);
    if (hasRoom()) setImmediate(write);
    else if (socket.writable) setTimeout(write, 1);
  };
  write();
}

/** A resolver with a script: each look-up of a name takes the next of its answers, the last one for ever. */
export function scriptedResolver(script: Record<string, string[][]>) {
  const asked: string[] = [];
  const resolve = async (host: string): Promise<string[]> => {
    const answers = script[host];
    if (answers === undefined) throw Object.assign(new Error(`ENOTFOUND ${host}`), { code: "ENOTFOUND" });
    const count = asked.filter((name) => name === host).length;
    asked.push(host);
    return answers[Math.min(count, answers.length - 1)] ?? [];
  };
  return { resolve, asked };
}

const PATIENT = {
  callbackMs: 10_000,
  callbackDrainMs: 10_000,
  mediaAnswerMs: 10_000,
  mediaIdleMs: 10_000,
  mediaTotalMs: 20_000,
};
const HASTY = {
  callbackMs: 300,
  callbackDrainMs: 100,
};

/** An egress that reaches 127.0.0.1 (as `receiver.test`) and nothing else. */
export function localEgress(options: Partial<EgressOptions> = {}) {
  const { resolve } = scriptedResolver({ "receiver.test": [["127.0.0.1"]] });
  return createEgress({ allow: ["127.0.0.1/32"], resolve, limits: PATIENT, ...options });
}

/** One that soon gives up, for servers that take too long. */
export function hastyEgress(options: Partial<EgressOptions> = {}) {
  return localEgress({ limits: HASTY, ...options });
}

/** Text of whichever parts of an iterable come before it ends or throws. */
export async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(source));
}

export const NEVER = new AbortController().signal;

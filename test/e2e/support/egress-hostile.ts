import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { gzipSync } from "node:zlib";

/** A receiver of callbacks that means harm, or is broken. */
export interface HostileReceiver {
  /** What it does to whoever connects. */
  readonly name: string;
  readonly url: string;
  /** Connections so far, and those still open. */
  readonly connections: { opened: number; open: number };
  /** Requests whose head has come, of one with TLS. */
  requests(): number;
  stop(): void;
}

type Behaviour = (socket: Socket) => void;

const OK = "HTTP/1.1 200 OK\r\n";
const BLOCK = new Uint8Array(64 * 1024).fill(0x41);
const CHUNK = Buffer.concat([Buffer.from("10000\r\n"), BLOCK, Buffer.from("\r\n")]);
const MANY_HEADERS = Buffer.from("X-Filler: aaaaaaaaaaaaaaaa\r\n".repeat(2_000));
const TINY_CHUNKS = Buffer.from("1\r\nx\r\n".repeat(10_000));
const INTERIM = Buffer.from("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(1_000));
const TEN_GB = 10_000_000_000;
let bomb: Buffer | undefined;

/** What the service makes of a receiver, and whether only the end of its patience ends it. */
interface Hostile {
  readonly behave: Behaviour;
  readonly outcome: "delivered" | "refused" | "unreachable";
  readonly isSlow?: boolean;
}

/** By what they do; each begins when a request's head has come, except where it says otherwise. */
const HOSTILE: Readonly<Record<string, Hostile>> = {
  "a body of 10 GB": {
    outcome: "delivered",
    behave: onHead((socket) => {
      socket.write(`${OK}Content-Length: ${TEN_GB}\r\n\r\n`);
      pour(socket, BLOCK);
    }),
  },
  "a body in chunks without end": {
    outcome: "delivered",
    behave: onHead((socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      pour(socket, CHUNK);
    }),
  },
  "chunks of one byte without end": {
    outcome: "delivered",
    behave: onHead((socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      pour(socket, TINY_CHUNKS);
    }),
  },
  "one chunk without end": {
    outcome: "delivered",
    behave: onHead((socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n`);
      pour(socket, BLOCK);
    }),
  },
  "a refusal with a body of 10 GB": {
    outcome: "refused",
    behave: onHead((socket) => {
      socket.write(`HTTP/1.1 500 No\r\nContent-Length: ${TEN_GB}\r\n\r\n`);
      pour(socket, BLOCK);
    }),
  },
  "a gzip bomb": {
    outcome: "delivered",
    behave: onHead((socket) => {
      bomb ??= gzipSync(new Uint8Array(256 * 1024 * 1024));
      socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.end(bomb);
    }),
  },
  "a body at a byte a second": {
    outcome: "delivered",
    behave: onHead((socket) => drip(socket, `${OK}\r\n`)),
  },
  "a head at a byte a second": {
    outcome: "unreachable",
    isSlow: true,
    behave: onHead((socket) => drip(socket, OK)),
  },
  "one header without end": {
    outcome: "unreachable",
    behave: onHead((socket) => {
      socket.write(`${OK}X-Long: `);
      pour(socket, BLOCK);
    }),
  },
  "headers without end": {
    outcome: "unreachable",
    behave: onHead((socket) => {
      socket.write(OK);
      pour(socket, MANY_HEADERS);
    }),
  },
  "interim answers without end": {
    outcome: "unreachable",
    behave: onHead((socket) => pour(socket, INTERIM)),
  },
  "a status line without end": {
    outcome: "unreachable",
    behave: onHead((socket) => {
      socket.write("HTTP/1.1 200 ");
      pour(socket, BLOCK);
    }),
  },
  "trailers without end": {
    outcome: "delivered",
    behave: onHead((socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n`);
      pour(socket, MANY_HEADERS);
    }),
  },
  "a chunk's extension without end": {
    outcome: "delivered",
    behave: onHead((socket) => {
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n1;`);
      pour(socket, BLOCK);
    }),
  },
  "an answer before the request": {
    outcome: "delivered",
    behave: (socket) => {
      socket.write(`${OK}Content-Length: 2\r\n\r\nok`);
      socket.resume();
    },
  },
  "nothing read and nothing said": {
    outcome: "unreachable",
    isSlow: true,
    behave: (socket) => socket.pause(),
  },
  "a switch to another protocol": {
    outcome: "unreachable",
    behave: onHead((socket) =>
      socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
    ),
  },
  "a reset": { outcome: "unreachable", behave: onHead((socket) => socket.resetAndDestroy()) },
  "a reset at once": { outcome: "unreachable", behave: (socket) => socket.resetAndDestroy() },
  "silence after the request": { outcome: "unreachable", isSlow: true, behave: onHead(() => undefined) },
};

/** Every kind there is, with what becomes of a callback to it. */
export const HOSTILE_KINDS = Object.entries(HOSTILE).map(([name, { outcome, isSlow = false }]) => ({
  name,
  outcome,
  isSlow,
}));

/** Starts one of them on an address, with a plain connection. */
export async function startHostile(name: string, hostname = "127.0.0.1"): Promise<HostileReceiver> {
  const hostile = HOSTILE[name];
  if (hostile === undefined) throw new Error(`There is no receiver that does ${name}.`);
  return listen(name, "http", createServer(), hostile.behave, hostname);
}

/** Starts one that speaks TLS with the certificate given. */
export async function startSecure(
  name: string,
  certificate: { key: string; cert: string },
  hostname = "127.0.0.1",
): Promise<HostileReceiver> {
  let count = 0;
  const answer = onHead((socket) => {
    count += 1;
    socket.end(`${OK}Content-Length: 2\r\n\r\nok`);
  });
  const receiver = await listen(name, "https", createTlsServer(certificate), answer, hostname);
  return { ...receiver, requests: () => count };
}

/** Starts one that takes connections for TLS and never says a word. */
export async function startStalledTls(hostname = "127.0.0.1"): Promise<HostileReceiver> {
  return listen("a handshake that stalls", "https", createServer(), (socket) => socket.resume(), hostname);
}

async function listen(
  name: string,
  scheme: string,
  server: Server,
  behave: Behaviour,
  hostname: string,
): Promise<HostileReceiver> {
  const sockets = new Set<Socket>();
  const connections = { opened: 0, open: 0 };
  server.on(scheme === "https" && "setSecureContext" in server ? "secureConnection" : "connection", behave);
  server.on("connection", (socket: Socket) => {
    connections.opened += 1;
    connections.open += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      connections.open -= 1;
      sockets.delete(socket);
    });
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((listening) => server.listen(0, hostname, listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The receiver has no port.");
  return {
    name,
    url: `${scheme}://${hostname}:${address.port}/hook`,
    connections,
    requests: () => 0,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function onHead(begin: Behaviour): Behaviour {
  return (socket) => {
    let head = "";
    const read = (data: Buffer) => {
      head += data.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      socket.off("data", read);
      socket.resume();
      begin(socket);
    };
    socket.on("data", read);
    socket.on("error", () => undefined);
  };
}

/** Writes as fast as it is taken, until the connection ends. */
function pour(socket: Socket, block: Uint8Array): void {
  const write = () => {
    while (socket.writable) if (!socket.write(block)) return;
  };
  socket.on("drain", write);
  write();
}

function drip(socket: Socket, beginning: string): void {
  socket.write(beginning);
  const timer = setInterval(() => (socket.writable ? socket.write("X") : clearInterval(timer)), 1_000);
}

import { afterEach, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { createUpstream, type HttpLimits, NoAnswer } from "../../../src/providers/kit/http.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Scripted, type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";

const signal = new AbortController().signal;
const started: { stop(): void }[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.stop();
});

const NEVER_MS = 1e12;
const LIMITS: HttpLimits = { connectMs: NEVER_MS, answerMs: NEVER_MS, bodyMs: NEVER_MS };
const BODY = { type: "application/json", bytes: new TextEncoder().encode("{}") };

function connect(baseUrl: string, limits: Partial<HttpLimits> = {}) {
  const clock = fakeClock();
  const credentials = { Authorization: "Bearer secret-key" };
  const upstream = createUpstream({
    name: "Test",
    baseUrl,
    credentials,
    secrets: ["secret-key"],
    clock,
    limits: { ...LIMITS, ...limits },
  });
  return { upstream, clock };
}

async function serve(answer: Scripted): Promise<ScriptedUpstream> {
  const server = await startUpstream(() => answer);
  started.push(server);
  return server;
}

test("a connection that is not there in time leaves nothing sent", async () => {
  const sockets: Socket[] = [];
  const { promise: greeted, resolve } = Promise.withResolvers<void>();
  // It takes the connection, but never answers the beginning of TLS.
  const silent = createServer((socket) => {
    sockets.push(socket.on("error", () => undefined));
    socket.on("data", () => resolve());
  });
  await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
  started.push({
    stop() {
      for (const socket of sockets) socket.destroy();
      silent.close();
    },
  });
  const { port } = silent.address() as { port: number };
  const { upstream, clock } = connect(`https://127.0.0.1:${port}`, { connectMs: 1_000 });
  const failing = rejection(upstream.send({ method: "POST", url: "/", body: BODY, maxBytes: 100 }, signal));
  await greeted;
  clock.advance(1_000);
  const error = (await failing) as NoAnswer;
  expect(error).toBeInstanceOf(NoAnswer);
  expect([error.isUnsent, error.message]).toEqual([true, "Test: no connection in time"]);
});

test("the rest of an answer is waited for only so long", async () => {
  const server = await serve((socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"));
  const { upstream, clock } = connect(server.origin, { bodyMs: 1_000 });
  let isOver = false;
  const failing = rejection(upstream.send({ method: "POST", url: "/", body: BODY, maxBytes: 100 }, signal));
  void failing.then(() => {
    isOver = true;
  });
  while (!isOver) {
    clock.advance(1_000);
    await new Promise((soon) => setImmediate(soon));
  }
  const error = (await failing) as NoAnswer;
  expect([error.isUnsent, error.message]).toEqual([
    false,
    "Test: the rest of the answer did not come in time",
  ]);
});

test("what is no HTTP is told without the address, which may be signed", async () => {
  const server = await serve((socket) => void socket.end("SSH-2.0-OpenSSH_9.2\r\n\r\n"));
  const { upstream } = connect(server.origin);
  const request = { method: "GET", url: "/a.png?X-Amz-Signature=0123456789abcdef", maxBytes: 100 } as const;
  const error = (await rejection(upstream.send(request, signal))) as NoAnswer;
  expect([error.isUnsent, error.message]).toEqual([false, "Test: Malformed_HTTP_Response"]);
});

test("a paid request never goes over a connection that was used before", async () => {
  const sockets: Socket[] = [];
  const server = await serve((socket) => {
    sockets.push(socket);
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  });
  const { upstream } = connect(server.origin);
  const get = { method: "GET", url: "/status", maxBytes: 100 } as const;
  const post = { method: "POST", url: "/job", body: BODY, maxBytes: 100 } as const;
  const bare = { method: "POST", url: "/job?prompt=fox", maxBytes: 100 } as const;
  for (const request of [get, get, post, post, bare, bare]) await upstream.send(request, signal);
  const [first, second, ...paid] = sockets;
  expect(first === second).toBe(true);
  expect(new Set([first, ...paid]).size).toBe(5);
});

test("a request that would take the key to another origin is not sent", async () => {
  const elsewhere = await serve({ json: {} });
  const { upstream } = connect("http://127.0.0.1:1/v1");
  for (const url of [`${elsewhere.origin}/v1`, "file:///etc/passwd", "not a url", "//elsewhere"]) {
    const error = await rejection(upstream.send({ method: "GET", url, maxBytes: 100 }, signal));
    expect(error).toBeInstanceOf(NoAnswer);
  }
  expect(elsewhere.arrived).toEqual([]);
});

test.each([
  ["https://api.example/x", true],
  ["https://api.example:443/x", true],
  ["https://api.example:8443/x", false],
  ["http://api.example/x", false],
  ["https://api.example.evil.example/x", false],
  ["https://user@api.example/x", false],
  ["https://api.example@evil.example/x", false],
  ["/x", false],
  ["", false],
])("%j is its own: %p", (url, isOwn) => {
  expect(connect("https://api.example/v1").upstream.isOwn(url)).toBe(isOwn);
});

test("the key goes to a further origin that was named", async () => {
  const regional = await serve({ json: {} });
  const upstream = createUpstream({
    name: "Test",
    baseUrl: "http://127.0.0.1:1/v1",
    origins: [regional.origin],
    credentials: { "x-key": "secret-key" },
    secrets: [],
    clock: fakeClock(),
    limits: LIMITS,
  });
  await upstream.send({ method: "GET", url: `${regional.origin}/v1/get_result?id=1`, maxBytes: 100 }, signal);
  expect(regional.arrived.map(({ path, headers }) => [path, headers.get("x-key")])).toEqual([
    ["/v1/get_result?id=1", "secret-key"],
  ]);
});

test("a body of exactly the limit is read, and one byte more is none", async () => {
  const body = JSON.stringify("x".repeat(98));
  const { upstream } = connect((await serve({ body })).origin);
  const ask = (maxBytes: number) => upstream.send({ method: "GET", url: "/", maxBytes }, signal);
  expect((await ask(100)).json).toBe("x".repeat(98));
  expect(await rejection(ask(99))).toBeInstanceOf(NoAnswer);
});

const PACKED: Readonly<Record<string, (text: string) => Uint8Array>> = {
  gzip: (text) => gzipSync(text),
  deflate: (text) => deflateSync(text),
  br: (text) => brotliCompressSync(text),
  zstd: (text) => zstdCompressSync(text),
  // No packing, whatever some storages say of it.
  "aws-chunked": (text) => Buffer.from(text),
};

test.each(Object.entries(PACKED))(
  "an answer that comes packed although nobody asked for it is read: %s",
  async (encoding, pack) => {
    const body = pack(JSON.stringify({ id: "1" }));
    const server = await serve({ headers: { "content-encoding": encoding }, body });
    const { upstream } = connect(server.origin);
    const answer = await upstream.send({ method: "GET", url: "/", maxBytes: 100 }, signal);
    expect(answer.json).toEqual({ id: "1" });
    expect(server.arrived[0]?.headers.get("accept-encoding")).toBe("identity");
  },
);

test("an answer without a body is one, however it is said to be packed", async () => {
  const { upstream } = connect((await serve({ headers: { "content-encoding": "gzip" }, body: "" })).origin);
  const answer = await upstream.send({ method: "DELETE", url: "/", maxBytes: 100 }, signal);
  expect(answer).toMatchObject({ status: 200, text: "" });
});

test("of a packed answer no more is unpacked than an answer may have, and a damaged one is none", async () => {
  const bomb = gzipSync(new Uint8Array(64 * 1024 * 1024));
  for (const [body, message] of [
    [bomb, "Test: the answer is larger than 100 bytes"],
    [gzipSync("{}").subarray(0, 12), "Test: Z_BUF_ERROR"],
    [Buffer.from("no gzip"), "Test: Z_DATA_ERROR"],
  ] as const) {
    const { upstream } = connect((await serve({ headers: { "content-encoding": "gzip" }, body })).origin);
    const error = await rejection(upstream.send({ method: "GET", url: "/", maxBytes: 100 }, signal));
    expect(error).toMatchObject({ name: "NoAnswer", message });
  }
});

test("an environment's proxy sees nothing", async () => {
  const proxy = await serve({ json: { from: "proxy" } });
  const server = await serve({ json: { from: "server" } });
  const before = { ...process.env };
  Object.assign(process.env, {
    HTTP_PROXY: proxy.origin,
    http_proxy: proxy.origin,
    NO_PROXY: "",
    no_proxy: "",
  });
  try {
    // What the runtime does by itself, so that the rest can fail.
    expect(await (await fetch(server.origin)).json()).toEqual({ from: "proxy" });
    const { upstream } = connect(server.origin);
    for (const request of [{ method: "GET" }, { method: "POST", body: BODY }] as const) {
      const answer = await upstream.send({ ...request, url: "/", maxBytes: 100 }, signal);
      expect(answer.json).toEqual({ from: "server" });
    }
  } finally {
    for (const name of ["HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"]) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
});

test("a trace is told of the connection, the body and the answer, and of no secret in the upstream's id", async () => {
  const server = await serve({ status: 503, headers: { "x-request-id": "r-secret-key-1" }, body: "{}" });
  const { upstream } = connect(server.origin);
  const told: unknown[] = [];
  const tracing = {
    took: (phase: string, ms: number) => void told.push([phase, ms]),
    answered: (status: number, id: string | undefined) => void told.push([status, id]),
  };
  await upstream.send({ method: "POST", url: "/", body: BODY, maxBytes: 100, tracing }, signal);
  expect(told).toContainEqual(["connect", 0]);
  expect(told.at(-1)).toEqual([503, "r-[secret]-1"]);
});

test.each([301, 302, 303, 307, 308])(
  "a question is asked again where it is redirected (%i), as long as the key may go there",
  async (status) => {
    const elsewhere = await serve({ json: {} });
    const server = await serve({ json: {} });
    server.answer = ({ path }) => {
      const location = path === "/v1/jobs/1" ? "/v1/eu/jobs/1" : `${elsewhere.origin}/jobs/1`;
      return path === "/v1/eu/jobs/1"
        ? { json: { done: true } }
        : { status, headers: { location }, body: "" };
    };
    const { upstream } = connect(`${server.origin}/v1`);
    const ask = (url: string) => upstream.send({ method: "GET", url, maxBytes: 100 }, signal);
    expect(await ask("/jobs/1")).toMatchObject({ status: 200, json: { done: true } });
    expect(server.arrived.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer secret-key",
      "Bearer secret-key",
    ]);
    expect(await ask("/jobs/2")).toMatchObject({ status });
    expect(elsewhere.arrived).toEqual([]);
  },
);

test("a question that is redirected without end gets the last redirect; nothing else is sent twice", async () => {
  const server = await serve({ status: 307, headers: { location: "/v1/jobs" }, body: "" });
  const { upstream } = connect(`${server.origin}/v1`);
  expect(await upstream.send({ method: "GET", url: "/jobs", maxBytes: 100 }, signal)).toMatchObject({
    status: 307,
  });
  expect(server.arrived).toHaveLength(4);
  await upstream.send({ method: "POST", url: "/jobs", body: BODY, maxBytes: 100 }, signal);
  expect(server.arrived).toHaveLength(5);
});

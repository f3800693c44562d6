import { afterEach, expect, test } from "bun:test";
import { createServer } from "node:net";
import { createUpstream, NoAnswer } from "../../../src/providers/kit/http.ts";
import { fetchFromAnywhere, fetchMedia } from "../../../src/providers/kit/media.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";

const signal = new AbortController().signal;
const started: { stop(): void }[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.stop();
});

const PASSWORD = "p@ss-word-0123";
const BASIC = `Basic ${Buffer.from(`us:${PASSWORD}`).toString("base64")}`;
const BODY = { type: "application/json", bytes: new TextEncoder().encode("{}") };

/** An upstream whose name only the proxy can resolve. */
function connect(origin: string, baseUrl = "http://upstream.invalid/v1") {
  const { host } = new URL(origin);
  return createUpstream({
    name: "Test",
    baseUrl,
    credentials: { "x-key": "key" },
    secrets: [],
    clock: fakeClock(),
    limits: { connectMs: 1e12, answerMs: 1e12, bodyMs: 1e12 },
    proxy: `http://us:${encodeURIComponent(PASSWORD)}@${host}`,
  });
}

async function proxy(answer: Scripted) {
  const server = await startUpstream(() => answer);
  started.push(server);
  return server;
}

test("calls and files go through the proxy, which alone gets its password", async () => {
  const server = await proxy({ json: {} });
  const upstream = connect(server.origin);
  await upstream.send({ method: "GET", url: "/jobs?id=1", maxBytes: 100 }, signal);
  await upstream.send({ method: "POST", url: "/jobs", body: BODY, maxBytes: 100 }, signal);
  const file = await fetchMedia({ upstream, hosts: [] }, "http://upstream.invalid/a.png", 100, signal);
  expect(Buffer.concat(await Array.fromAsync(file)).toString()).toBe("{}");
  const arrived = server.arrived.map(({ method, path, headers, body }) => [
    ...[method, path, headers.get("host"), headers.get("x-key"), body.toString()],
    headers.get("proxy-authorization"),
  ]);
  expect(arrived).toEqual([
    ["GET", "http://upstream.invalid/v1/jobs?id=1", "upstream.invalid", "key", "", BASIC],
    ["POST", "http://upstream.invalid/v1/jobs", "upstream.invalid", "key", "{}", BASIC],
    ["GET", "http://upstream.invalid/a.png", "upstream.invalid", null, "", BASIC],
  ]);
});

test("to an https address the proxy opens a tunnel, and sees nothing of the request", async () => {
  const { promise: tunnelled, resolve } = Promise.withResolvers<Buffer>();
  const heads: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (head) => {
      heads.push(head.toString("latin1"));
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.once("data", (begun) => {
        resolve(Buffer.from(begun));
        socket.destroy();
      });
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  started.push({ stop: () => void server.close() });
  const { port } = server.address() as { port: number };
  const upstream = connect(`http://127.0.0.1:${port}`, "https://upstream.invalid/v1");
  const failing = rejection(
    upstream.send({ method: "POST", url: "/jobs", body: BODY, maxBytes: 100 }, signal),
  );
  // A handshake of TLS.
  expect((await tunnelled)[0]).toBe(0x16);
  expect(await failing).toMatchObject({ isUnsent: true });
  expect(heads).toHaveLength(1);
  expect(heads[0]).toStartWith("CONNECT upstream.invalid:443 HTTP/1.1\r\n");
  expect(heads[0]).not.toContain("x-key");
});

test("a proxy that opens no tunnel leaves nothing sent, and its password shows nowhere", async () => {
  const body = `no access for us:${PASSWORD}`;
  const server = await proxy({ status: 407, body });
  const upstream = connect(server.origin, "https://upstream.invalid/v1");
  for (const request of [{ method: "GET" }, { method: "POST", body: BODY }] as const) {
    const error = (await rejection(
      upstream.send({ ...request, url: "/jobs", maxBytes: 100 }, signal),
    )) as NoAnswer;
    expect(error).toBeInstanceOf(NoAnswer);
    expect(error.message).toContain("407");
    expect(error.message).toEndWith("(through the proxy)");
    if (request.method === "POST") expect(error.isUnsent).toBe(true);
  }
  for (const text of [PASSWORD, encodeURIComponent(PASSWORD), BASIC])
    expect(upstream.scrub(`it said ${text}`)).not.toContain(text);
});

test("a proxy that is not there leaves nothing sent", async () => {
  const server = await proxy({ json: {} });
  server.stop();
  const upstream = connect(server.origin);
  const error = await rejection(
    upstream.send({ method: "POST", url: "/jobs", body: BODY, maxBytes: 100 }, signal),
  );
  expect(error).toMatchObject({ isUnsent: true, message: "Test: ECONNREFUSED (through the proxy)" });
});

test("files at any public host go through the proxy, also after a redirect", async () => {
  const server = await startUpstream(({ path }) =>
    path.endsWith("/content")
      ? { status: 302, headers: { location: "http://bucket.example/a.mp4?sig=1" }, body: "" }
      : { body: "bytes" },
  );
  started.push(server);
  const heads: string[] = [];
  const tunnels = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (head) => {
      heads.push(head.toString("latin1").split("\r\n")[0] ?? "");
      socket.end("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    });
  });
  await new Promise<void>((listening) => tunnels.listen(0, "127.0.0.1", listening));
  started.push({ stop: () => void tunnels.close() });
  const { port } = tunnels.address() as { port: number };
  const guarded: string[] = [];
  const fetchPublic = async (url: string) => {
    guarded.push(url);
    return (async function* () {
      yield Buffer.from("guarded");
    })();
  };
  const upstream = connect(`http://127.0.0.1:${port}`);
  const fetchAt = (url: string, through = upstream) =>
    fetchFromAnywhere({ upstream: through, hosts: [] }, fetchPublic, { url, maxBytes: 100 }, signal);
  expect(await rejection(fetchAt("https://files.example/a.mp4"))).toMatchObject({ disposition: "retry" });
  const redirecting = connect(server.origin, "http://upstream.invalid/v1");
  await rejection(fetchAt("http://upstream.invalid/v1/content", redirecting));
  expect(heads).toEqual(["CONNECT files.example:443 HTTP/1.1"]);
  expect(server.arrived.map(({ method, path, headers }) => [method, path, headers.get("x-key")])).toEqual([
    ["GET", "http://upstream.invalid/v1/content", null],
    ["CONNECT", "bucket.example:443", null],
  ]);
  expect(guarded).toEqual([]);
  // What the proxy might reach inside its own network is left to the guard.
  for (const url of ["https://10.0.0.5/a.png", "https://[fd00::1]/a.png", "https://nas.local/a.png"])
    await fetchAt(url);
  expect(guarded).toHaveLength(3);
});

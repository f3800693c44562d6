import { afterEach, expect, test } from "bun:test";
import { EgressError } from "../../../src/domain/ports/egress.ts";
import { createUpstream } from "../../../src/providers/kit/http.ts";
import {
  fetchFromAnywhere,
  fetchMedia,
  type MediaSource,
  mediaUrlOf,
} from "../../../src/providers/kit/media.ts";
import type { Network } from "../../../src/providers/kit/network.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import {
  pour,
  type Scripted,
  type ScriptedUpstream,
  startUpstream,
} from "../../helpers/scripted-upstream.ts";

const started: ScriptedUpstream[] = [];
afterEach(() => {
  for (const upstream of started.splice(0)) upstream.stop();
});

function sourceAt(
  baseUrl: string,
  {
    origins = [],
    withKey,
    network,
  }: { origins?: readonly string[]; withKey?: boolean; network?: Network } = {},
) {
  const clock = fakeClock();
  const limits = { connectMs: 1, answerMs: 1, bodyMs: 1 };
  const credentials = { Authorization: "Bearer secret-key" };
  const upstream = createUpstream({
    name: "Test",
    baseUrl,
    origins,
    credentials,
    secrets: ["secret-key"],
    clock,
    limits,
    network,
  });
  const source: MediaSource = {
    upstream,
    hosts: ["cdn.example", "*.cdn.example"],
    withKey,
    limits: { answerMs: 1_000, idleMs: 2_000, totalMs: 60_000 },
  };
  return { source, clock };
}

async function serve(answer: ScriptedUpstream["answer"]) {
  const server = await startUpstream(answer);
  started.push(server);
  return { server, ...sourceAt(server.origin) };
}

const collect = async (bytes: Promise<AsyncIterable<Uint8Array>>) =>
  Buffer.concat(await Array.fromAsync(await bytes)).toString();
const NEVER = new AbortController().signal;

test.each([
  ["https://cdn.example/a.png", true],
  ["https://v3.cdn.example/a.png", true],
  ["https://api.example/files/a.png", true],
  ["http://cdn.example:8080/a.png", false],
  ["http://evilcdn.example/a.png", false],
  ["http://user:pass@cdn.example/a.png", false],
  ["https://cdn.example:8443/a.png", false],
  ["https://.cdn.example/a.png", false],
  ["https://evilcdn.example/a.png", false],
  ["https://cdn.example.evil.example/a.png", false],
  ["https://user:pass@cdn.example/a.png", false],
  ["https://169.254.169.254/latest", false],
  ["https://localhost/a.png", false],
  ["file:///etc/passwd", false],
  ["data:image/png;base64,AAAA", false],
  ["", false],
])("%j is a place for outputs: %p", (url, isPlace) => {
  expect(mediaUrlOf(sourceAt("https://api.example/v1").source, url)).toBe(isPlace ? url : undefined);
});

test("files that an upstream names with http are fetched over https, also behind the key", async () => {
  const asked: [string, string | null][] = [];
  const send: Network["send"] = async ({ url, init }) => {
    asked.push([url.href, new Headers(init.headers).get("authorization")]);
    if (url.pathname === "/moved") return Response.redirect("http://v3.cdn.example/a.png", 302);
    return new Response("bytes");
  };
  const { source } = sourceAt("https://api.example/v1", { withKey: true, network: { send } });
  for (const url of [
    "http://cdn.example/a.png?sig=1",
    "http://api.example/b.png",
    "https://cdn.example/moved",
  ])
    expect(await collect(fetchMedia(source, url, 100, NEVER))).toBe("bytes");
  expect(asked).toEqual([
    ["https://cdn.example/a.png?sig=1", null],
    ["https://api.example/b.png", "Bearer secret-key"],
    ["https://cdn.example/moved", null],
    ["https://v3.cdn.example/a.png", null],
  ]);
});

test("files at an upstream's own address that speaks http are fetched as they are named", () => {
  const { source } = sourceAt("http://engine.example/v1");
  expect(mediaUrlOf(source, "http://engine.example/a.png")).toBe("http://engine.example/a.png");
});

test("a file is fetched without credentials, through redirects that stay where files are", async () => {
  const { server, source } = await serve(
    ({ path }): Scripted =>
      path === "/1" ? { status: 302, headers: { location: "/2" }, body: "" } : { body: "bytes" },
  );
  expect(await collect(fetchMedia(source, `${server.origin}/1`, 100, NEVER))).toBe("bytes");
  expect(server.arrived.map(({ headers }) => headers.get("authorization"))).toEqual([null, null]);
});

test("a file behind the key is fetched with it, and the first redirect elsewhere drops it for good", async () => {
  const other = await startUpstream(() => ({
    status: 302,
    headers: { location: `${server.origin}/4` },
    body: "",
  }));
  started.push(other);
  const to = (location: string) => ({ status: 302, headers: { location }, body: "" });
  const hops: Record<string, Scripted> = { "/1": to("/2"), "/2": to(`${other.origin}/3`) };
  const { server } = await serve(({ path }) => hops[path] ?? { body: "bytes" });
  const { source } = sourceAt(`${server.origin}/v1`, { origins: [other.origin], withKey: true });
  expect(await collect(fetchMedia(source, `${server.origin}/1`, 100, NEVER))).toBe("bytes");
  const keys = ({ arrived }: ScriptedUpstream) =>
    arrived.map(({ path, headers }) => [path, headers.get("authorization")]);
  expect(keys(server)).toEqual([
    ["/1", "Bearer secret-key"],
    ["/2", "Bearer secret-key"],
    ["/4", null],
  ]);
  expect(keys(other)).toEqual([["/3", null]]);
});

test("a file for which the credentials are refused says so, so that the next try has others", async () => {
  const { server } = await serve(() => ({ status: 401, body: "" }));
  const refused: (string | null)[] = [];
  const upstream = createUpstream({
    name: "Test",
    baseUrl: server.origin,
    credentials: async () => ({ headers: { Authorization: "Bearer minted-token" } }),
    onRefused: ({ headers }) => refused.push(headers.get("authorization")) > 0,
    secrets: [],
    clock: fakeClock(),
    limits: { connectMs: 1, answerMs: 1, bodyMs: 1 },
  });
  const source = { upstream, hosts: [], withKey: true };
  await rejection(fetchMedia(source, `${server.origin}/1`, 100, NEVER));
  expect(refused).toEqual(["Bearer minted-token"]);
  expect(server.arrived).toHaveLength(1);
});

test("a file behind a key that cannot be had may be there later", async () => {
  const { server } = await serve(() => ({ body: "bytes" }));
  const upstream = createUpstream({
    name: "Test",
    baseUrl: server.origin,
    credentials: () => Promise.reject(new Error("no token")),
    secrets: [],
    clock: fakeClock(),
    limits: { connectMs: 1, answerMs: 1, bodyMs: 1 },
  });
  const source = { upstream, hosts: [], withKey: true };
  const error = await rejection(fetchMedia(source, `${server.origin}/1`, 100, NEVER));
  expect(error).toMatchObject({ disposition: "retry", message: "Test: no token" });
  expect(server.arrived).toEqual([]);
});

test("a redirect to anywhere else is not followed", async () => {
  const elsewhere = await startUpstream(() => ({ body: "bytes" }));
  started.push(elsewhere);
  for (const location of [
    `${elsewhere.origin}/x`,
    "file:///etc/passwd",
    "http://169.254.169.254/",
    "http://[",
  ]) {
    const { server, source } = await serve(() => ({ status: 307, headers: { location }, body: "" }));
    const error = await rejection(collect(fetchMedia(source, `${server.origin}/1`, 100, NEVER)));
    expect(error).toMatchObject({ disposition: "fail", code: "FINALIZATION_FAILED" });
  }
  expect(elsewhere.arrived).toEqual([]);
});

test("a redirect to anywhere else is followed by the guard that asks public addresses, without the key", async () => {
  const bucket = "https://bucket.example/a.png?signed=1";
  const { server } = await serve(() => ({ status: 302, headers: { location: bucket }, body: "" }));
  const { source } = sourceAt(server.origin, { withKey: true });
  const asked: unknown[] = [];
  const fetchPublic = async (url: string, options: object) => {
    asked.push([url, options]);
    return new Blob(["bytes"]).stream();
  };
  const file = { url: `${server.origin}/1`, maxBytes: 100 };
  expect(await collect(fetchFromAnywhere(source, fetchPublic, file, NEVER))).toBe("bytes");
  expect(asked).toEqual([[bucket, { maxBytes: 100, signal: NEVER, limits: source.limits }]]);
  const alone = await rejection(fetchFromAnywhere(source, undefined, file, NEVER));
  expect(alone).toMatchObject({ disposition: "fail", code: "FINALIZATION_FAILED" });
});

test.each([
  [new EgressError("bad_status", "was answered with status 404", undefined, 404), { isFailure: true }],
  [new EgressError("bad_status", "was answered with status 503", undefined, 503), { isFailure: false }],
  [new EgressError("unreachable", "could not be read"), { isFailure: false }],
] as const)(
  "trouble with a public address is told as of one of the upstream's own: %s",
  async (error, details) => {
    const { source } = sourceAt("https://api.example/v1");
    const file = { url: "https://bucket.example/a.png", maxBytes: 100 };
    const told = await rejection(fetchFromAnywhere(source, () => Promise.reject(error), file, NEVER));
    expect(told).toMatchObject({ disposition: "retry", details });
  },
);

test("redirects without an end have one", async () => {
  const { server, source } = await serve(() => ({ status: 302, headers: { location: "/again" }, body: "" }));
  const error = await rejection(fetchMedia(source, `${server.origin}/1`, 100, NEVER));
  expect(error).toMatchObject({ disposition: "fail" });
  expect(server.arrived).toHaveLength(4);
});

test.each([
  [{ status: 404, body: "" }, "retry"],
  [{ status: 403, body: "" }, "retry"],
  [{ status: 503, body: "" }, "retry"],
  [{ status: 206, body: "par" }, "retry"],
  [{ status: 410, body: "" }, "fail"],
  [{ headers: { "content-encoding": "gzip" }, body: Bun.gzipSync(new Uint8Array(101)) }, "fail"],
  [{ headers: { "content-encoding": "gzip" }, body: "no gzip" }, "retry"],
  [{ body: "x".repeat(101) }, "fail"],
  [pour, "fail"],
  [(socket) => void socket.resetAndDestroy(), "retry"],
  [(socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), "retry"],
] as [Scripted, string][])(
  "what is no whole file of the right size is trouble: %#",
  async (answer, disposition) => {
    const { server, source } = await serve(() => answer);
    const error = await rejection(collect(fetchMedia(source, `${server.origin}/1`, 100, NEVER)));
    expect(error).toMatchObject({ disposition, code: "FINALIZATION_FAILED" });
  },
);

test("a file that its storage keeps packed is unpacked", async () => {
  const { server, source } = await serve(() => ({
    headers: { "content-encoding": "gzip" },
    body: Bun.gzipSync("bytes"),
  }));
  expect(await collect(fetchMedia(source, `${server.origin}/1`, 100, NEVER))).toBe("bytes");
});

test("a file of exactly the limit is taken", async () => {
  const { server, source } = await serve(() => ({ body: "x".repeat(100) }));
  expect(await collect(fetchMedia(source, `${server.origin}/1`, 100, NEVER))).toHaveLength(100);
});

test("a server that does not answer, or stops in the middle, is waited for only so long", async () => {
  const quiet = await serve(() => () => undefined);
  const failing = rejection(fetchMedia(quiet.source, `${quiet.server.origin}/1`, 100, NEVER));
  await quiet.server.until(1);
  quiet.clock.advance(1_000);
  expect(await failing).toMatchObject({ disposition: "retry" });

  const half = await serve(
    () => (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
  );
  const bytes = await fetchMedia(half.source, `${half.server.origin}/1`, 100, NEVER);
  const reader = bytes[Symbol.asyncIterator]();
  expect(Buffer.from((await reader.next()).value).toString()).toBe("abc");
  const rest = rejection(reader.next());
  half.clock.advance(2_000);
  expect(await rest).toMatchObject({ disposition: "retry" });
});

test("a receiver that takes its time is not the upstream's fault", async () => {
  const { server, source, clock } = await serve(() => (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nabc");
    rest = () => socket.end("def");
  });
  let rest = () => {};
  const reader = (await fetchMedia(source, `${server.origin}/1`, 100, NEVER))[Symbol.asyncIterator]();
  await reader.next();
  clock.advance(10_000);
  rest();
  expect(Buffer.from((await reader.next()).value).toString()).toBe("def");
});

test("an abort ends a download with its own reason", async () => {
  const { server, source } = await serve(
    () => (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
  );
  const worker = new AbortController();
  const reader = (await fetchMedia(source, `${server.origin}/1`, 100, worker.signal))[Symbol.asyncIterator]();
  await reader.next();
  const failing = rejection(reader.next());
  const reason = new Error("The worker stops.");
  worker.abort(reason);
  expect(await failing).toBe(reason);
});

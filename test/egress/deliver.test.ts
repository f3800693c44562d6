import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { createEgress } from "../../src/egress/egress.ts";
import { localEgress, NEVER, pour, rawServer, reply, scriptedResolver } from "./servers.ts";

const BODY = '{"task_id":"task_1","note":"é"}';

test("a callback is one POST with exactly these headers", async () => {
  await using server = await rawServer((socket) => socket.write(reply(200, {}, "thanks")));
  const url = `http://receiver.test:${server.port}/hook?token=a%20b#part`;
  expect(await localEgress().deliver(url, BODY, NEVER)).toEqual({ kind: "delivered", status: 200 });
  expect(server.requests).toHaveLength(1);
  const [head = "", body] = (server.requests[0] ?? "").split("\r\n\r\n");
  const [line, ...headers] = head.split("\r\n");
  expect(line).toBe("POST /hook?token=a%20b HTTP/1.1");
  expect(headers.sort()).toEqual([
    "Accept-Encoding: identity",
    "Accept: */*",
    `Content-Length: ${Buffer.byteLength(BODY)}`,
    "Content-Type: application/json",
    `Host: receiver.test:${server.port}`,
    "User-Agent: Service-Callback/1.0",
  ]);
  expect(Buffer.from(body ?? "", "latin1").toString()).toBe(BODY);
});

test("the connection is closed after the answer and never used again", async () => {
  await using server = await rawServer((socket) => socket.write(reply(200)));
  const egress = localEgress();
  for (let i = 0; i < 3; i += 1) await egress.deliver(`http://receiver.test:${server.port}/`, BODY, NEVER);
  expect(server.connections.opened).toBe(3);
  await eventually(() => server.connections.open === 0);
});

test.each([200, 201, 202, 204, 299])("status %p acknowledges", async (status) => {
  await using server = await rawServer((socket) => socket.write(reply(status)));
  const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, BODY, NEVER);
  expect(delivery).toEqual({ kind: "delivered", status });
});

test.each([300, 301, 302, 303, 307, 308, 400, 404, 410, 429, 500, 503])(
  "status %p refuses",
  async (status) => {
    await using server = await rawServer((socket) => socket.write(reply(status, { Location: "/elsewhere" })));
    const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, BODY, NEVER);
    expect(delivery).toEqual({ kind: "refused", status, retryAfterMs: undefined });
    expect(server.requests).toHaveLength(1);
  },
);

test("a redirect to loopback is not followed", async () => {
  await using target = await rawServer((socket) => socket.write(reply(200)));
  await using server = await rawServer((socket) =>
    socket.write(reply(307, { Location: `http://127.0.0.1:${target.port}/` })),
  );
  const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, BODY, NEVER);
  expect(delivery).toMatchObject({ kind: "refused", status: 307 });
  expect(target.connections.opened).toBe(0);
});

const retryAfter: [Record<string, string>, number | undefined][] = [
  [{ "Retry-After": "120" }, 120_000],
  [{ "Retry-After": "0" }, 0],
  [{ "Retry-After": " 7 " }, 7_000],
  [{ "Retry-After": "Sat, 21 Nov 2026 10:00:30 GMT", Date: "Sat, 21 Nov 2026 10:00:00 GMT" }, 30_000],
  [{ "Retry-After": "Sat, 21 Nov 2026 09:00:00 GMT", Date: "Sat, 21 Nov 2026 10:00:00 GMT" }, 0],
  [{ "Retry-After": "Sat, 21 Nov 2026 10:00:30 GMT" }, undefined],
  [{ "Retry-After": "-5" }, undefined],
  [{ "Retry-After": "soon" }, undefined],
  [{ "Retry-After": "" }, undefined],
  [{}, undefined],
];
test.each(retryAfter)("%p asks to wait %p ms", async (headers, expected) => {
  await using server = await rawServer((socket) => socket.write(reply(503, headers)));
  const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, BODY, NEVER);
  expect(delivery).toEqual({ kind: "refused", status: 503, retryAfterMs: expected });
});

const forbidden: [string, string[]][] = [
  ["a private address", ["10.0.0.1"]],
  ["a public and a private address", ["1.1.1.1", "10.0.0.1"]],
  ["the let-through address and a private one", ["127.0.0.1", "192.168.0.1"]],
  ["an IPv6 address that wraps loopback", ["::ffff:127.0.0.1"]],
  ["cloud metadata", ["169.254.169.254"]],
  ["something that is not an address", ["localhost"]],
];
test.each(forbidden)("a name with %s is forbidden, and nobody is connected to", async (_, addresses) => {
  await using server = await rawServer((socket) => socket.write(reply(200)));
  const { resolve } = scriptedResolver({ "evil.test": [addresses] });
  const delivery = await localEgress({ resolve }).deliver(`http://evil.test:${server.port}/`, BODY, NEVER);
  expect(delivery).toEqual({ kind: "forbidden", reason: "points to an address that is not public" });
  expect(server.connections.opened).toBe(0);
});

test("what can be refused without a look-up is forbidden", async () => {
  const egress = createEgress({ allow: [], resolve: () => Promise.reject(new Error("looked up")) });
  const delivery = await egress.deliver("http://127.0.0.1:8080/", BODY, NEVER);
  expect(delivery).toEqual({ kind: "forbidden", reason: "names the address 127.0.0.1, which is not public" });
  expect((await egress.deliver("no url", BODY, NEVER)).kind).toBe("forbidden");
});

test("a name is looked up once, and the connection goes to the address that was checked", async () => {
  await using server = await rawServer((socket) => socket.write(reply(200)));
  const { resolve, asked } = scriptedResolver({ "rebind.test": [["127.0.0.1"], ["10.0.0.1"]] });
  const egress = localEgress({ resolve });
  const url = `http://rebind.test:${server.port}/`;
  expect(await egress.deliver(url, BODY, NEVER)).toEqual({ kind: "delivered", status: 200 });
  expect(asked).toEqual(["rebind.test"]);
  // The system's own resolver knows no such name: had the runtime asked it, the first delivery would have failed.
  expect((await egress.deliver(url, BODY, NEVER)).kind).toBe("forbidden");
  expect(server.connections.opened).toBe(1);
});

test("the next address is tried when one takes no connection, but not after something was sent", async () => {
  let isUp = true;
  await using server = await rawServer((socket) => (isUp ? socket.write(reply(200)) : socket.destroy()));
  const allow = ["127.0.0.0/8"];
  const { resolve } = scriptedResolver({
    "two.test": [["127.0.0.2", "127.0.0.1"]],
    "same.test": [["127.0.0.1", "127.0.0.1"]],
  });
  const egress = localEgress({ allow, resolve });
  expect((await egress.deliver(`http://two.test:${server.port}/`, BODY, NEVER)).kind).toBe("delivered");
  isUp = false;
  expect((await egress.deliver(`http://same.test:${server.port}/`, BODY, NEVER)).kind).toBe("unreachable");
  expect(server.requests).toHaveLength(2);
});

test("a proxy in the environment is not used", async () => {
  await using proxy = await rawServer((socket) => socket.write(reply(200)));
  await using server = await rawServer((socket) => socket.write(reply(204)));
  const before = process.env.HTTP_PROXY;
  process.env.HTTP_PROXY = `http://127.0.0.1:${proxy.port}`;
  try {
    const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, BODY, NEVER);
    expect(delivery).toEqual({ kind: "delivered", status: 204 });
    expect(proxy.connections.opened).toBe(0);
  } finally {
    if (before === undefined) delete process.env.HTTP_PROXY;
    else process.env.HTTP_PROXY = before;
  }
});

const bomb = gzipSync(new Uint8Array(256 * 1024 * 1024));
const hostile: [string, (socket: Socket) => void, string][] = [
  ["never answers", () => undefined, "unreachable"],
  ["closes at once", (socket) => socket.destroy(), "unreachable"],
  [
    "answers with something that is not HTTP",
    (socket) => socket.end("220 smtp ready\r\n\r\n"),
    "unreachable",
  ],
  ["sends its headers a byte at a time", (socket) => drip(socket, "HTTP/1.1 200 OK\r\n"), "unreachable"],
  ["sends headers without end", (socket) => endlessHeaders(socket), "unreachable"],
  [
    "sends interim answers without end",
    (socket) => pour(socket, Buffer.from("HTTP/1.1 100 Continue\r\n\r\n".repeat(1000))),
    "unreachable",
  ],
  ["sends a body without end", (socket) => endlessBody(socket), "delivered"],
  ["sends its body a byte at a time", (socket) => drip(socket, "HTTP/1.1 200 OK\r\n\r\n"), "delivered"],
  [
    "breaks off in its body",
    (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"),
    "delivered",
  ],
  [
    "sends a gzip bomb",
    (socket) => socket.write(reply(200, { "Content-Encoding": "gzip" }, bomb)),
    "delivered",
  ],
];
test.each(hostile)("a receiver that %s is given up, and its connection closed", async (_, answer, kind) => {
  await using server = await rawServer(answer);
  const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, BODY, NEVER);
  expect(delivery.kind as string).toBe(kind);
  await eventually(() => server.connections.open === 0);
});

test("an acknowledged callback is done after a moment, however long the rest of the answer takes", async () => {
  await using server = await rawServer((socket) => drip(socket, "HTTP/1.1 200 OK\r\n\r\n"));
  const egress = localEgress({ limits: { callbackMs: 20_000, callbackDrainMs: 50 } });
  const delivery = await egress.deliver(`http://receiver.test:${server.port}/`, BODY, NEVER);
  expect(delivery).toEqual({ kind: "delivered", status: 200 });
  await eventually(() => server.connections.open === 0);
});

test("a resolver that never answers is not waited for longer than a receiver", async () => {
  const egress = localEgress({ resolve: () => new Promise(() => undefined) });
  expect(await egress.deliver("https://slow.test/", BODY, NEVER)).toEqual({
    kind: "unreachable",
    reason: "no answer in time",
  });
});

test("a name nobody knows, a closed port and an abort are unreachable", async () => {
  const egress = localEgress();
  expect(await egress.deliver("https://unknown.test/", BODY, NEVER)).toEqual({
    kind: "unreachable",
    reason: "names a host that cannot be found",
  });
  const server = await rawServer(() => undefined);
  await server[Symbol.asyncDispose]();
  const url = `http://receiver.test:${server.port}/`;
  expect(await egress.deliver(url, BODY, NEVER)).toEqual({ kind: "unreachable", reason: "ECONNREFUSED" });
  expect(await egress.deliver(url, BODY, AbortSignal.abort())).toEqual({
    kind: "unreachable",
    reason: "AbortError",
  });
});

function drip(socket: Socket, beginning: string): void {
  socket.write(beginning);
  const timer = setInterval(() => (socket.writable ? socket.write("X") : clearInterval(timer)), 5);
}

function endlessHeaders(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\n");
  pour(socket, Buffer.from(`X-Filler: ${"x".repeat(1000)}\r\n`.repeat(60)));
}

function endlessBody(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\n\r\n");
  pour(socket, new Uint8Array(64 * 1024));
}

async function eventually(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 100 && !isTrue(); i += 1) await Bun.sleep(5);
  expect(isTrue()).toBe(true);
}

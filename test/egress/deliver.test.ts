import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { createEgress } from "../../src/egress/egress.ts";
import { hastyEgress, localEgress, NEVER, pour, rawServer, reply, scriptedResolver } from "./servers.ts";

const BODY = '{"task_id":"task_1","note":"é"}';
const POST = { body: BODY };
const address = "127.0.0.1";
/** Waits for an answer, and not for its end. */
const UNHURRIED = { callbackMs: 20_000, callbackDrainMs: 50 };

test("a callback is one POST with exactly these headers", async () => {
  await using server = await rawServer((socket) => socket.write(reply(200, {}, "thanks")));
  const url = `http://receiver.test:${server.port}/hook?token=a%20b#part`;
  expect(await localEgress().deliver(url, POST, NEVER)).toEqual({
    kind: "delivered",
    status: 200,
    address,
    excerpt: "thanks",
  });
  expect(server.requests).toHaveLength(1);
  const [head = "", body] = (server.requests[0] ?? "").split("\r\n\r\n");
  const [line, ...headers] = head.split("\r\n");
  expect(line).toBe("POST /hook?token=a%20b HTTP/1.1");
  expect(headers.sort()).toEqual([
    "Accept-Encoding: identity",
    "Accept: */*",
    "Connection: keep-alive",
    `Content-Length: ${Buffer.byteLength(BODY)}`,
    "Content-Type: application/json",
    `Host: receiver.test:${server.port}`,
    "User-Agent: Service-Callback/1.0",
  ]);
  expect(Buffer.from(body ?? "", "latin1").toString()).toBe(BODY);
});

test("a callback's own headers go beside the fixed ones, and none of them changes the request", async () => {
  await using server = await rawServer((socket) => socket.write(reply(200)));
  const headers = {
    "Webhook-Id": "cb_1",
    "webhook-signature": "v1,abc= v1,def=",
    "content-type": "text/html",
    HOST: "internal.test",
    "User-Agent": "curl",
    "content-length": "3",
    "Transfer-Encoding": "chunked",
    Connection: "upgrade",
    Expect: "100-continue",
    "Proxy-Authorization": "Basic eDp5",
    Cookie: "a=b",
  };
  const url = `http://receiver.test:${server.port}/`;
  expect((await localEgress().deliver(url, { body: BODY, headers }, NEVER)).kind).toBe("delivered");
  const [head = "", body] = (server.requests[0] ?? "").split("\r\n\r\n");
  expect(head.split("\r\n").slice(1).sort()).toEqual([
    "Accept-Encoding: identity",
    "Accept: */*",
    "Connection: keep-alive",
    `Content-Length: ${Buffer.byteLength(BODY)}`,
    "Content-Type: application/json",
    `Host: receiver.test:${server.port}`,
    "User-Agent: Service-Callback/1.0",
    "Webhook-Id: cb_1",
    "webhook-signature: v1,abc= v1,def=",
  ]);
  expect(Buffer.from(body ?? "", "latin1").toString()).toBe(BODY);
});

const unsafe: [string, string][] = [
  ["X-A: 1\r\nX-B", "2"],
  ["X A", "1"],
  ["", "1"],
  ["X-Ä", "1"],
  ["X-A", "1\r\nX-B: 2"],
  ["X-A", "1\n"],
  ["X-A", "\0"],
];
test.each(unsafe)("the header %p: %p is not sent, nor anything else", async (name, value) => {
  await using server = await rawServer((socket) => socket.write(reply(200)));
  const post = { body: BODY, headers: { [name]: value } };
  const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, post, NEVER);
  expect(delivery).toMatchObject({ kind: "unreachable", reason: expect.stringContaining("a header") });
  expect(server.connections.opened).toBe(0);
});

const excerpts: [string, string | Uint8Array, string | undefined][] = [
  ["nothing", "", undefined],
  ["text", "no such order\n\tat line 7 – é €", "no such order\n\tat line 7 – é €"],
  ["512 bytes", "a".repeat(512), "a".repeat(512)],
  ["more than 512 bytes", "a".repeat(513), "a".repeat(512)],
  ["a character across the cut", `${"a".repeat(510)}€uro`, "a".repeat(510)],
  ["four bytes across the cut", `${"a".repeat(509)}😀`, "a".repeat(509)],
  ["a character up to the cut", `${"a".repeat(509)}€uro`, `${"a".repeat(509)}€`],
  ["half a character at its end", new Uint8Array([0x61, 0xe2, 0x82]), "a\ufffd"],
  ["bytes that are not UTF-8", new Uint8Array([0xff, 0x61, 0xc0, 0x80]), "\ufffda\ufffd\ufffd"],
  ["control characters", "\x1b[31mred\0\r\n\x7f\x85", "\ufffd[31mred\ufffd\ufffd\n\ufffd\ufffd"],
  ["megabytes", "é".repeat(1_000_000), "é".repeat(256)],
];
test.each(excerpts)("of an answer of %s, the beginning is kept as text", async (_, body, excerpt) => {
  for (const status of [200, 500]) {
    await using server = await rawServer((socket) => socket.write(reply(status, {}, body)));
    const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, POST, NEVER);
    expect(delivery).toMatchObject({ status, address });
    expect("excerpt" in delivery ? delivery.excerpt : undefined).toBe(excerpt);
  }
});

test("the beginning of an answer that never ends is kept too", async () => {
  const head = "HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nhalf a st";
  await using server = await rawServer((socket) => socket.write(head));
  const delivery = await localEgress({ limits: UNHURRIED }).deliver(
    `http://receiver.test:${server.port}/`,
    POST,
    NEVER,
  );
  expect(delivery).toMatchObject({ kind: "refused", status: 500, excerpt: "half a st" });
});

test("the address is told where a connection was made or tried, the last one of several", async () => {
  await using silent = await rawServer(() => undefined);
  const url = `http://receiver.test:${silent.port}/`;
  expect(await hastyEgress().deliver(url, POST, NEVER)).toEqual({
    kind: "unreachable",
    reason: "no answer in time",
    address,
  });
  const { resolve } = scriptedResolver({ "two.test": [["127.0.0.3", "127.0.0.2"]] });
  const egress = localEgress({ allow: ["127.0.0.0/8"], resolve });
  expect(await egress.deliver(`http://two.test:${silent.port}/`, POST, NEVER)).toMatchObject({
    kind: "unreachable",
    address: "127.0.0.2",
  });
  expect(await egress.deliver("http://nowhere.test/", POST, NEVER)).toEqual({
    kind: "unreachable",
    reason: "names a host that cannot be found",
    address: undefined,
  });
});

test.each([200, 201, 202, 204, 299])("status %p acknowledges", async (status) => {
  await using server = await rawServer((socket) => socket.write(reply(status)));
  const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, POST, NEVER);
  expect(delivery).toEqual({ kind: "delivered", status, address });
});

test.each([300, 301, 302, 303, 307, 308, 400, 404, 410, 429, 500, 503])(
  "status %p refuses",
  async (status) => {
    await using server = await rawServer((socket) => socket.write(reply(status, { Location: "/elsewhere" })));
    const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, POST, NEVER);
    expect(delivery).toEqual({ kind: "refused", status, address, retryAfterMs: undefined });
    expect(server.requests).toHaveLength(1);
  },
);

test("a redirect to loopback is not followed", async () => {
  await using target = await rawServer((socket) => socket.write(reply(200)));
  await using server = await rawServer((socket) =>
    socket.write(reply(307, { Location: `http://127.0.0.1:${target.port}/` })),
  );
  const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, POST, NEVER);
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
  const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, POST, NEVER);
  expect(delivery).toEqual({ kind: "refused", status: 503, address, retryAfterMs: expected });
});

const forbidden: [string, string[], string][] = [
  ["a private address", ["10.0.0.1"], "private"],
  ["a public and a private address", ["1.1.1.1", "10.0.0.1"], "private"],
  ["the let-through address and a private one", ["127.0.0.1", "192.168.0.1"], "private"],
  ["an IPv6 address that wraps loopback", ["::ffff:127.0.0.1"], "IPv4 inside IPv6"],
  ["a carrier's address", ["100.64.0.9"], "carrier-grade NAT"],
  ["cloud metadata", ["169.254.169.254"], "link-local"],
  ["something that is not an address", ["localhost"], "not an address"],
];
test.each(forbidden)(
  "a name with %s is forbidden, and nobody is connected to",
  async (_, addresses, kind) => {
    await using server = await rawServer((socket) => socket.write(reply(200)));
    const { resolve } = scriptedResolver({ "evil.test": [addresses] });
    const delivery = await localEgress({ resolve }).deliver(`http://evil.test:${server.port}/`, POST, NEVER);
    expect(delivery).toEqual({
      kind: "forbidden",
      reason: `points to an address that is not public (${kind})`,
    });
    expect(server.connections.opened).toBe(0);
  },
);

test("what can be refused without a look-up is forbidden", async () => {
  const egress = createEgress({ allow: [], resolve: () => Promise.reject(new Error("looked up")) });
  const delivery = await egress.deliver("http://127.0.0.1:8080/", POST, NEVER);
  expect(delivery).toEqual({ kind: "forbidden", reason: "names the address 127.0.0.1, which is not public" });
  expect((await egress.deliver("no url", POST, NEVER)).kind).toBe("forbidden");
});

test("a name is looked up once, and the connection goes to the address that was checked", async () => {
  await using server = await rawServer((socket) => socket.write(reply(200)));
  const { resolve, asked } = scriptedResolver({ "rebind.test": [["127.0.0.1"], ["10.0.0.1"]] });
  const egress = localEgress({ resolve });
  const url = `http://rebind.test:${server.port}/`;
  expect(await egress.deliver(url, POST, NEVER)).toEqual({ kind: "delivered", status: 200, address });
  expect(asked).toEqual(["rebind.test"]);
  // The system's own resolver knows no such name: had the runtime asked it, the first delivery would have failed.
  expect((await egress.deliver(url, POST, NEVER)).kind).toBe("forbidden");
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
  expect((await egress.deliver(`http://two.test:${server.port}/`, POST, NEVER)).kind).toBe("delivered");
  isUp = false;
  expect((await egress.deliver(`http://same.test:${server.port}/`, POST, NEVER)).kind).toBe("unreachable");
  expect(server.requests).toHaveLength(2);
});

test("a proxy in the environment is not used", async () => {
  await using proxy = await rawServer((socket) => socket.write(reply(200)));
  await using server = await rawServer((socket) => socket.write(reply(204)));
  const before = process.env.HTTP_PROXY;
  process.env.HTTP_PROXY = `http://127.0.0.1:${proxy.port}`;
  try {
    const delivery = await localEgress().deliver(`http://receiver.test:${server.port}/`, POST, NEVER);
    expect(delivery).toEqual({ kind: "delivered", status: 204, address });
    expect(proxy.connections.opened).toBe(0);
  } finally {
    if (before === undefined) delete process.env.HTTP_PROXY;
    else process.env.HTTP_PROXY = before;
  }
});

const SWITCHES = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
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
  ["switches to another protocol", (socket) => socket.write(SWITCHES), "unreachable"],
  ["switches to another protocol and leaves", (socket) => socket.end(SWITCHES), "unreachable"],
  ["says that it switches, but not to what", (socket) => socket.end("HTTP/1.1 101 OK\r\n\r\n"), "refused"],
  ["sends a body in pieces of one byte", (socket) => tinyPieces(socket), "delivered"],
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
  const egress = kind === "delivered" ? localEgress({ limits: UNHURRIED }) : hastyEgress();
  const delivery = await egress.deliver(`http://receiver.test:${server.port}/`, POST, NEVER);
  expect(delivery.kind as string).toBe(kind);
  await eventually(() => server.connections.open === 0);
});

test("a flood of interim answers or small pieces ends at once, before time is up", async () => {
  const patient = localEgress({ limits: { callbackMs: 60_000, callbackDrainMs: 60_000 } });
  const interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
  await using first = await rawServer((socket) => pour(socket, Buffer.from(interim.repeat(1000))));
  expect(await patient.deliver(`http://receiver.test:${first.port}/`, POST, NEVER)).toEqual({
    kind: "unreachable",
    reason: "sends too many interim answers",
    address,
  });
  await using second = await rawServer(tinyPieces);
  const delivery = await patient.deliver(`http://receiver.test:${second.port}/`, POST, NEVER);
  expect(delivery).toMatchObject({ kind: "delivered", status: 200 });
  await using third = await rawServer((socket) => socket.write(interim.repeat(3) + reply(204)));
  expect(await patient.deliver(`http://receiver.test:${third.port}/`, POST, NEVER)).toMatchObject({
    kind: "delivered",
    status: 204,
  });
});

test("an acknowledged callback is done after a moment, however long the rest of the answer takes", async () => {
  await using server = await rawServer((socket) => drip(socket, "HTTP/1.1 200 OK\r\n\r\n"));
  const egress = localEgress({ limits: UNHURRIED });
  const delivery = await egress.deliver(`http://receiver.test:${server.port}/`, POST, NEVER);
  expect(delivery).toMatchObject({ kind: "delivered", status: 200 });
  await eventually(() => server.connections.open === 0);
});

test("a resolver that never answers is not waited for longer than a receiver", async () => {
  const egress = hastyEgress({ resolve: () => new Promise(() => undefined) });
  expect(await egress.deliver("https://slow.test/", POST, NEVER)).toEqual({
    kind: "unreachable",
    reason: "no answer in time",
  });
});

test("a name nobody knows, a closed port and an abort are unreachable", async () => {
  const egress = localEgress();
  expect(await egress.deliver("https://unknown.test/", POST, NEVER)).toEqual({
    kind: "unreachable",
    reason: "names a host that cannot be found",
  });
  const server = await rawServer(() => undefined);
  await server[Symbol.asyncDispose]();
  const url = `http://receiver.test:${server.port}/`;
  expect(await egress.deliver(url, POST, NEVER)).toEqual({
    kind: "unreachable",
    reason: "ECONNREFUSED",
    address,
  });
  expect(await egress.deliver(url, POST, AbortSignal.abort())).toEqual({
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

function tinyPieces(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  pour(socket, Buffer.from("1\r\nx\r\n".repeat(10_000)));
}

function endlessBody(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\n\r\n");
  pour(socket, new Uint8Array(64 * 1024));
}

async function eventually(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 2_000 && !isTrue(); i += 1) await Bun.sleep(5);
  expect(isTrue()).toBe(true);
}

import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import { EgressError } from "../../src/domain/ports/egress.ts";
import { createEgress } from "../../src/egress/egress.ts";
import { fakeClock } from "../helpers/engine.ts";
import { collect, localEgress, NEVER, pour, rawServer, reply, scriptedResolver } from "./servers.ts";

const MAX = { maxBytes: 100_000, signal: NEVER };

async function failure(work: Promise<unknown>): Promise<Pick<EgressError, "reason" | "message">> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(EgressError);
  if (!(error instanceof EgressError)) throw new Error("Not an EgressError.");
  return { reason: error.reason, message: error.message };
}

test("a media file comes through whole, asked for with nothing that tells about us", async () => {
  const content = new Uint8Array(90_000).map((_, i) => i * 7);
  await using server = await rawServer((socket) =>
    socket.write(reply(200, { "Content-Type": "image/png" }, content)),
  );
  const source = await localEgress().fetchMedia(`http://receiver.test:${server.port}/a.png?b=c`, MAX);
  expect(new Uint8Array(await collect(source))).toEqual(content);
  const [line, ...headers] = (server.requests[0] ?? "").trim().split("\r\n");
  expect(line).toBe("GET /a.png?b=c HTTP/1.1");
  expect(headers.sort()).toEqual([
    "Accept-Encoding: identity",
    "Accept: image/png, image/jpeg, image/webp, video/mp4, video/webm, audio/wav, audio/mpeg, audio/mp4, audio/ogg",
    `Host: receiver.test:${server.port}`,
    "User-Agent: Service-Fetch/1.0",
  ]);
});

test("a file that comes packed is unpacked, as far as the limit", async () => {
  const packed = (sizeBytes: number) =>
    reply(200, { "Content-Encoding": "gzip" }, Bun.gzipSync(new Uint8Array(sizeBytes)));
  await using exact = await rawServer((socket) => socket.end(packed(100_000)));
  await using above = await rawServer((socket) => socket.end(packed(100_001)));
  const at = (port: number) => localEgress().fetchMedia(`http://receiver.test:${port}/`, MAX);
  expect(await collect(await at(exact.port))).toHaveLength(100_000);
  expect(await failure(at(above.port).then(collect))).toEqual({
    reason: "too_large",
    message: "is larger than 97.7 KB",
  });
});

test("a chunked answer of unknown length comes through, an empty one is empty", async () => {
  await using chunked = await rawServer((socket) =>
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
  );
  const egress = localEgress();
  expect(
    (await collect(await egress.fetchMedia(`http://receiver.test:${chunked.port}/`, MAX))).toString(),
  ).toBe("abcde");
  await using empty = await rawServer((socket) => socket.write(reply(200)));
  expect(await collect(await egress.fetchMedia(`http://receiver.test:${empty.port}/`, MAX))).toHaveLength(0);
});

test("a file of exactly the limit is read, one byte more is not", async () => {
  for (const announce of [true, false]) {
    const answer = (sizeBytes: number) => (socket: Socket) => {
      if (announce) socket.write(reply(200, {}, new Uint8Array(sizeBytes)));
      else socket.end(Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\n\r\n"), new Uint8Array(sizeBytes)]));
    };
    await using exact = await rawServer(answer(100_000));
    await using above = await rawServer(answer(100_001));
    const read = async (port: number) =>
      collect(await localEgress().fetchMedia(`http://receiver.test:${port}/`, MAX));
    expect(await read(exact.port)).toHaveLength(100_000);
    expect((await failure(read(above.port))).reason).toBe("too_large");
  }
});

test("redirects are followed, at most five, each one checked", async () => {
  await using server = await rawServer((socket, request) => {
    const left = Number(/GET \/(\d+)/.exec(request)?.[1]);
    socket.write(left === 0 ? reply(200, {}, "end") : reply(302, { Location: `/${left - 1}` }));
  });
  const url = (hops: number) => `http://receiver.test:${server.port}/${hops}`;
  expect((await collect(await localEgress().fetchMedia(url(5), MAX))).toString()).toBe("end");
  expect(server.requests).toHaveLength(6);
  expect(await failure(localEgress().fetchMedia(url(6), MAX))).toEqual({
    reason: "bad_status",
    message: "redirects too many times",
  });
  expect(server.requests).toHaveLength(12);
});

const leaps: [string, string][] = [
  ["http://127.0.0.2:PORT/", "redirects to a URL that names the address 127.0.0.2, which is not public"],
  ["http://10.0.0.1/", "redirects to a URL that names the address 10.0.0.1, which is not public"],
  [
    "//169.254.169.254/latest",
    "redirects to a URL that names the address 169.254.169.254, which is not public",
  ],
  [
    "http://[::ffff:127.0.0.1]:PORT/",
    "redirects to a URL that names the address ::ffff:7f00:1, which is not public",
  ],
  ["https://private.test:PORT/", "points to an address that is not public (private)"],
  ["https://mixed.test:PORT/", "points to an address that is not public (private)"],
  ["http://1.1.1.1/a.png", "redirects to a URL that must be an https URL"],
  ["file:///etc/passwd", "redirects to a URL that must be an https URL"],
  ["data:image/png;base64,AAAA", "redirects to a URL that must be an https URL"],
  ["https://user:secret@receiver.test/", "redirects to a URL that must not contain a user name or password"],
  ["https://receiver.test:22/", "redirects to a URL that names port 22, which is not allowed"],
];
test.each(leaps)("a redirect to %s goes nowhere", async (location, message) => {
  await using server = await rawServer((socket) => {
    socket.write(reply(301, { Location: location.replace("PORT", String(server.port)) }));
  });
  const { resolve } = scriptedResolver({
    "receiver.test": [["127.0.0.1"]],
    "private.test": [["192.168.0.1"]],
    "mixed.test": [["127.0.0.1", "192.168.0.1"]],
  });
  const result = await failure(
    localEgress({ resolve }).fetchMedia(`http://receiver.test:${server.port}/`, MAX),
  );
  expect(result).toEqual({ reason: "forbidden", message });
  expect(server.connections.opened).toBe(1);
});

test("media come over https only, except from addresses that are let through", async () => {
  const { resolve } = scriptedResolver({
    "public.test": [["1.1.1.1"]],
    "both.test": [["127.0.0.1", "1.1.1.1"]],
  });
  const egress = localEgress({ resolve });
  const https = { reason: "forbidden", message: "must be an https URL" } as const;
  expect(await failure(egress.fetchMedia("http://public.test/a.png", MAX))).toEqual(https);
  expect(await failure(egress.fetchMedia("http://both.test/a.png", MAX))).toEqual(https);
  const strict = createEgress({ allow: [], resolve: () => Promise.reject(new Error("looked up")) });
  expect(await failure(strict.fetchMedia("http://public.test/a.png", MAX))).toEqual(https);
});

test("every hop is looked up once and goes to the address that was checked", async () => {
  await using server = await rawServer((socket, request) => {
    socket.write(request.startsWith("GET /a") ? reply(302, { Location: "/b" }) : reply(200, {}, "end"));
  });
  const { resolve, asked } = scriptedResolver({ "rebind.test": [["127.0.0.1"], ["10.0.0.1"]] });
  const result = await failure(
    localEgress({ resolve }).fetchMedia(`http://rebind.test:${server.port}/a`, MAX),
  );
  expect(result).toEqual({
    reason: "forbidden",
    message: "points to an address that is not public (private)",
  });
  expect(asked).toEqual(["rebind.test", "rebind.test"]);
  expect(server.requests).toHaveLength(1);
});

const answers: [string, Buffer | string, EgressError["reason"], string][] = [
  ["404", reply(404), "bad_status", "was answered with status 404"],
  ["204", reply(204), "bad_status", "was answered with status 204"],
  ["206", reply(206, {}, "part"), "bad_status", "was answered with status 206"],
  ["302 without a place", reply(302), "bad_status", "was answered with status 302"],
  [
    "302 to nowhere",
    reply(302, { Location: "http://[" }),
    "bad_status",
    "redirects to something that is not a URL",
  ],
  ["a large announcement", reply(200, {}, new Uint8Array(100_001)), "too_large", "is larger than 97.7 KB"],
  ["nonsense", "220 ready\r\n\r\n", "unreachable", "could not be read (ECONNRESET)"],
];
for (const [what, answer, reason, message] of answers) {
  test(`an answer of ${what} is an error`, async () => {
    await using server = await rawServer((socket) => socket.end(answer));
    expect(await failure(localEgress().fetchMedia(`http://receiver.test:${server.port}/`, MAX))).toEqual({
      reason,
      message,
    });
  });
}

test("a body that breaks off is an error, not a shorter file", async () => {
  for (const head of ["Content-Length: 1000", "Transfer-Encoding: chunked"]) {
    await using server = await rawServer((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n3\r\nabc\r\n`),
    );
    const source = await localEgress().fetchMedia(`http://receiver.test:${server.port}/`, MAX);
    expect((await failure(collect(source))).reason).toBe("unreachable");
  }
});

type Happens = (socket: Socket, clock: ReturnType<typeof fakeClock>) => void;
const HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
/** What happens at each request, and while the reader waits after each piece. An answer and a pause have 10 seconds, the whole 20. */
const slow: [string, Happens, Happens][] = [
  ["never answers", (_, clock) => clock.advance(10_000), () => undefined],
  ["stops in its body", (socket) => socket.write(`${HEAD}abc`), (_, clock) => clock.advance(10_000)],
  [
    "sends a byte now and then",
    (socket) => socket.write(`${HEAD}X`),
    (socket, clock) => {
      clock.advance(5_000);
      socket.write("X");
    },
  ],
  [
    "redirects slowly and for ever",
    (socket, clock) => {
      clock.advance(3_000);
      socket.write(reply(302, { Location: "/" }));
    },
    () => undefined,
  ],
];
test.each(slow)("a server that %s is given up", async (_, answer, wait) => {
  const clock = fakeClock();
  let socket: Socket;
  await using server = await rawServer((connected) => {
    socket = connected;
    answer(socket, clock);
  });
  const read = async () => {
    const source = await localEgress({ clock }).fetchMedia(`http://receiver.test:${server.port}/`, MAX);
    for await (const _ of source) setTimeout(() => wait(socket, clock));
  };
  expect(await failure(read())).toEqual({ reason: "timeout", message: "did not answer in time" });
  await eventually(() => server.connections.open === 0);
});

/** An answer whose pieces each come after a while. */
function comesInPieces(piece: Uint8Array, afterMs: number) {
  const clock = fakeClock();
  const connected = Promise.withResolvers<Socket>();
  const answer = (socket: Socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${10 * piece.length}\r\n\r\n`);
    socket.write(piece);
    connected.resolve(socket);
  };
  const read = async (port: number) => {
    const limits = { mediaIdleMs: 10_000, mediaTotalMs: 1_000_000 };
    const options = { maxBytes: 10 * piece.length, signal: NEVER };
    const url = `http://receiver.test:${port}/`;
    let sizeBytes = 0;
    let sent = 1;
    for await (const chunk of await localEgress({ clock, limits }).fetchMedia(url, options)) {
      sizeBytes += chunk.length;
      if (sizeBytes < sent * piece.length) continue;
      sent += 1;
      const socket = await connected.promise;
      setTimeout(() => {
        clock.advance(afterMs);
        socket.write(piece);
      });
    }
    return sizeBytes;
  };
  return { clock, answer, read };
}

test("a file that comes a byte at a time is given up long before its time is over", async () => {
  const { clock, answer, read } = comesInPieces(new Uint8Array(1), 4_000);
  await using server = await rawServer(answer);
  expect((await failure(read(server.port))).reason).toBe("timeout");
  expect(clock.elapsed()).toBe(12_000);
});

test("a file that comes slowly, but as quickly as an upload must, comes through", async () => {
  const { clock, answer, read } = comesInPieces(new Uint8Array(50_000), 3_000);
  await using server = await rawServer(answer);
  expect(await read(server.port)).toBe(500_000);
  expect(clock.elapsed()).toBeGreaterThanOrEqual(27_000);
});

test("a reader may take its time between two reads", async () => {
  const clock = fakeClock();
  const connected = Promise.withResolvers<Socket>();
  await using server = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab");
    connected.resolve(socket);
  });
  const egress = localEgress({ clock, limits: { mediaIdleMs: 100, mediaTotalMs: 20_000 } });
  const chunks: Uint8Array[] = [];
  for await (const chunk of await egress.fetchMedia(`http://receiver.test:${server.port}/`, MAX)) {
    chunks.push(chunk);
    clock.advance(200);
    if (chunks.length === 1) (await connected.promise).write("cd");
  }
  expect(Buffer.concat(chunks).toString()).toBe("abcd");
});

test("a file may be given more time than callers' files have", async () => {
  const clock = fakeClock();
  const connected = Promise.withResolvers<Socket>();
  await using server = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab");
    connected.resolve(socket);
  });
  const egress = localEgress({ clock, limits: { mediaTotalMs: 1_000 } });
  const limits = { answerMs: 10_000, idleMs: 10_000, totalMs: 3_000 };
  const chunks: Uint8Array[] = [];
  const url = `http://receiver.test:${server.port}/`;
  for await (const chunk of await egress.fetchMedia(url, { ...MAX, limits })) {
    chunks.push(chunk);
    if (chunks.length > 1) continue;
    clock.advance(2_000);
    (await connected.promise).write("cd");
  }
  expect(Buffer.concat(chunks).toString()).toBe("abcd");
});

test("an endless body is left at the limit, however fast it comes and slowly it is read", async () => {
  await using server = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    pour(socket, new Uint8Array(64 * 1024));
  });
  const egress = localEgress({ limits: { mediaTotalMs: 20_000 } });
  const source = await egress.fetchMedia(`http://receiver.test:${server.port}/`, {
    maxBytes: 5_000_000,
    signal: NEVER,
  });
  let sizeBytes = 0;
  const slowly = async () => {
    for await (const chunk of source) {
      sizeBytes += chunk.length;
      await Bun.sleep(2);
    }
  };
  expect((await failure(slowly())).reason).toBe("too_large");
  expect(sizeBytes).toBeLessThanOrEqual(5_000_000);
  await eventually(() => server.connections.open === 0);
});

test("a reader that stops early or never starts leaves no connection open", async () => {
  await using server = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    pour(socket, new Uint8Array(1024));
  });
  const url = `http://receiver.test:${server.port}/`;
  // The first piece holds whatever has come by then.
  const unlimited = { ...MAX, maxBytes: Number.MAX_SAFE_INTEGER };
  for await (const _ of await localEgress().fetchMedia(url, unlimited)) break;
  await eventually(() => server.connections.open === 0);
  const clock = fakeClock();
  await localEgress({ clock }).fetchMedia(url, unlimited);
  clock.advance(10_000);
  await eventually(() => server.connections.open === 0);
});

test("an abort of the caller stays an abort", async () => {
  await using server = await rawServer((socket) =>
    drip(socket, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
  );
  const url = `http://receiver.test:${server.port}/`;
  const stop = new Error("shutting down");
  const early = localEgress().fetchMedia(url, { ...MAX, signal: AbortSignal.abort(stop) });
  expect(await early.catch((error: unknown) => error)).toBe(stop);
  const controller = new AbortController();
  const source = await localEgress().fetchMedia(url, { ...MAX, signal: controller.signal });
  setTimeout(() => controller.abort(stop), 20);
  expect(await collect(source).catch((error: unknown) => error)).toBe(stop);
});

function drip(socket: Socket, beginning: string): void {
  socket.write(beginning);
  const timer = setInterval(() => (socket.writable ? socket.write("X") : clearInterval(timer)), 20);
}

async function eventually(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 2_000 && !isTrue(); i += 1) await Bun.sleep(5);
  expect(isTrue()).toBe(true);
}

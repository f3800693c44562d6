import { afterEach, beforeEach, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { AppError } from "../../src/domain/errors.ts";
import {
  type Content,
  END,
  file,
  latin1,
  named,
  type Outcome,
  read,
  TYPE,
  textOf,
} from "../helpers/multipart.ts";

let server: Bun.Server<undefined>;
let outcomes: Outcome[];
let heard: PromiseWithResolvers<Outcome>;
let onFile: (field: string, content: Content) => Promise<string>;
let sockets: Socket[];

beforeEach(() => {
  outcomes = [];
  sockets = [];
  heard = Promise.withResolvers();
  onFile = (_, content) => textOf(content);
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(given) {
      const outcome = await read(given, { maxTotalBytes: 60_000_000, onFile: (...args) => onFile(...args) });
      outcomes.push(outcome);
      heard.resolve(outcome);
      return Response.json(outcome.said);
    },
  });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop(true);
});

async function open(headers: string, body: string): Promise<Socket> {
  const socket = connect(Number(server.port), "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(`POST / HTTP/1.1\r\nHost: test\r\nContent-Type: ${TYPE}\r\n${headers}\r\n\r\n`);
  socket.write(latin1(body));
  return socket;
}

async function answer(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) {
    text += chunk;
    if (/\r\n\r\n.+/s.test(text)) break;
  }
  return text.slice(text.indexOf("\r\n\r\n") + 4);
}

const whole = file("a", "1") + named("b", "2") + END;
const form = { fields: [{ name: "b", value: "2" }], files: [{ field: "a", value: "1" }] };

test("two forms come over one connection", async () => {
  const socket = await open(`Content-Length: ${whole.length}`, whole);
  const [first] = await once(socket, "data");
  expect(String(first)).toEndWith(JSON.stringify(form));
  socket.write(
    `POST / HTTP/1.1\r\nHost: test\r\nContent-Type: ${TYPE}\r\nContent-Length: ${whole.length}\r\n\r\n${whole}`,
  );
  expect(JSON.parse(await answer(socket))).toEqual(form);
});

test("a chunked form is read like any other", async () => {
  const chunks = [whole.slice(0, 30), whole.slice(30)].map(
    (text) => `${text.length.toString(16)}\r\n${text}\r\n`,
  );
  const socket = await open("Transfer-Encoding: chunked", `${chunks.join("")}0\r\n\r\n`);
  expect(JSON.parse(await answer(socket))).toEqual(form);
});

test("a form shorter than announced is answered at its last boundary", async () => {
  const socket = await open(`Content-Length: ${whole.length + 500}`, whole);
  expect(JSON.parse(await answer(socket))).toEqual(form);
});

test("a form longer than announced is cut", async () => {
  const socket = await open(`Content-Length: ${whole.length - 20}`, whole);
  expect(await answer(socket)).toContain("ends before its last boundary");
  expect(outcomes[0]?.abandoned).toEqual(["1"]);
});

for (const headers of ["Content-Length: 5000", "Transfer-Encoding: chunked"]) {
  test(`a client that leaves in the middle of a file has nothing kept (${headers})`, async () => {
    const started = Promise.withResolvers<void>();
    onFile = async (field, content) => {
      if (field === "b") started.resolve();
      return textOf(content);
    };
    const body = file("a", "1") + file("b", "2".repeat(50)).slice(0, -10);
    const isChunked = headers.startsWith("Transfer");
    const socket = await open(headers, isChunked ? `${body.length.toString(16)}\r\n${body}\r\n` : body);
    await started.promise;
    socket.destroy();
    expect(await heard.promise).toEqual({
      said: "invalid_request: The body ended before it was complete.",
      abandoned: ["1"],
    });
  });
}

test("a client is answered in the middle of a large upload that is refused", async () => {
  onFile = async () => {
    throw new AppError("invalid_request", {
      kind: "finding",
      field: "image",
      finding: "is larger than 10 MB",
    });
  };
  const body = new FormData();
  body.append("image", new Blob([new Uint8Array(50_000_000)]), "large.png");
  const response = await fetch(server.url, { method: "POST", body });
  expect(await response.json()).toBe("invalid_request: image is larger than 10 MB.");
});

test("a sender waits for a file that is not read", async () => {
  const isDone = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  onFile = async (_, content) => {
    for await (const _chunk of content) {
      started.resolve();
      await isDone.promise;
    }
    return "read";
  };
  const content = "x".repeat(50_000_000);
  const large = file("a", content) + END;
  const socket = await open(`Content-Length: ${large.length}`, large);
  await started.promise;
  const sentFor = async () => {
    const { bytesWritten } = socket;
    await Bun.sleep(20);
    return socket.bytesWritten - bytesWritten;
  };
  while ((await sentFor()) > 0);
  expect(socket.writableLength).toBeGreaterThan(30_000_000);
  isDone.resolve();
  expect(await answer(socket)).toContain("read");
});

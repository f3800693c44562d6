import { afterEach, expect, test } from "bun:test";
import { createUpstream, NoAnswer } from "../../../src/providers/kit/http.ts";
import { rejection } from "../../contracts/provider.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Scripted, type ScriptedUpstream, startUpstream } from "../../helpers/scripted-upstream.ts";

const signal = new AbortController().signal;
const started: ScriptedUpstream[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.stop();
});

const PICTURE = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
const type = (value: string) => ({ "content-type": value });

async function ask(
  answer: Scripted,
  how: { bytes?: true; maxBytes?: number; method?: "GET" | "DELETE" } = {},
) {
  const server = await startUpstream(() => answer);
  started.push(server);
  const upstream = createUpstream({
    name: "Test",
    baseUrl: server.origin,
    credentials: {},
    secrets: [],
    clock: fakeClock(),
    limits: { connectMs: 1e12, answerMs: 1e12, bodyMs: 1e12 },
  });
  return upstream.send({ method: "GET", url: "/file", maxBytes: 1_000_000, ...how }, signal);
}

function chunked(content: Uint8Array): Scripted {
  return (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const half of [content.subarray(0, 70_000), content.subarray(70_000)]) {
      socket.write(`${half.length.toString(16)}\r\n`);
      socket.write(half);
      socket.write("\r\n");
    }
    socket.end("0\r\n\r\n");
  };
}

test.each([
  ["of a declared length", { headers: type("image/png"), body: PICTURE }],
  ["in chunks", chunked(PICTURE)],
  ["without a type", { body: PICTURE }],
] as [string, Scripted][])("a file %s comes as its bytes", async (_, answer) => {
  const { bytes, json, text } = await ask(answer, { bytes: true });
  expect(bytes === undefined ? undefined : Buffer.compare(bytes, PICTURE)).toBe(0);
  expect([json, text]).toEqual([undefined, undefined]);
});

test.each([
  [{ headers: type("application/json; charset=utf-8"), body: '{"a":1}' }, { json: { a: 1 } }],
  [{ headers: type("application/problem+json"), body: '{"a":1}' }, { json: { a: 1 } }],
  [
    { headers: type("text/plain"), body: "no" },
    { json: undefined, text: "no" },
  ],
  [
    { status: 422, headers: type("image/png"), body: "no" },
    { json: undefined, text: "no" },
  ],
] as [Scripted, object][])("what is no file is read as text: %#", async (answer, expected) => {
  const { json, text, bytes } = await ask(answer, { bytes: true });
  expect({ json, text, bytes }).toEqual({ text: undefined, bytes: undefined, ...expected } as never);
});

test("a file that nobody asked for is no bytes", async () => {
  expect((await ask({ headers: type("image/png"), body: PICTURE })).bytes).toBeUndefined();
});

test("a file of exactly the limit is read, and one byte more is none", async () => {
  for (const answer of [{ headers: type("image/png"), body: PICTURE }, chunked(PICTURE)]) {
    const { bytes } = await ask(answer, { bytes: true, maxBytes: PICTURE.length });
    expect(bytes?.length).toBe(PICTURE.length);
    const error = await rejection(ask(answer, { bytes: true, maxBytes: PICTURE.length - 1 }));
    expect(error).toBeInstanceOf(NoAnswer);
    expect((error as Error).message).toBe("Test: the answer is larger than 99999 bytes");
  }
});

test("an answer without a body is an answer", async () => {
  const nothing: Scripted = (socket) => void socket.write("HTTP/1.1 204 No Content\r\n\r\n");
  for (const bytes of [undefined, true] as const) {
    const how = { method: "DELETE", ...(bytes && { bytes }) } as const;
    const answer = await ask(nothing, how);
    expect({ ...answer, headers: undefined }).toMatchObject({ status: 204, json: undefined, text: "" });
  }
  expect(started.map(({ arrived }) => arrived[0]?.method)).toEqual(["DELETE", "DELETE"]);
});

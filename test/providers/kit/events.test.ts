import { expect, test } from "bun:test";
import fc from "fast-check";
import { createEventReader, isEventStream, type UpstreamEvent } from "../../../src/providers/kit/events.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

function read(chunks: readonly Uint8Array[], maxBytes = 1000): UpstreamEvent[] {
  const events: UpstreamEvent[] = [];
  const reader = createEventReader(
    { maxBytes, take: (event) => events.push(event) > 0 },
    () => new Error("too large"),
  );
  for (const chunk of chunks) reader.feed(chunk);
  reader.end();
  return events;
}

test("events are the same however their text is cut", () => {
  const text =
    'retry: 5\n: comment\n\nevent: a\ndata: {"x":"ä🦊"}\n\ndata: 1\r\ndata: 2\r\n\r\nevent: b\ndata: last';
  const whole = read([bytesOf(text)]);
  expect(whole).toEqual([
    { name: "a", data: '{"x":"ä🦊"}' },
    { name: "", data: "1\n2" },
    { name: "b", data: "last" },
  ]);
  const bytes = bytesOf(text);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: bytes.length })), (places) => {
      const cuts = [0, ...places.sort((a, b) => a - b), bytes.length];
      expect(read(cuts.slice(1).map((end, i) => bytes.subarray(cuts[i], end)))).toEqual(whole);
    }),
  );
});

test("an event at the limit is read, and one beyond it is an error before it has come whole", () => {
  expect(read([bytesOf(`data: ${"x".repeat(94)}\n\n`)], 100)).toHaveLength(1);
  expect(() => read([bytesOf(`data: ${"x".repeat(94)}`), bytesOf("xxxx")], 100)).toThrow("too large");
  // Nor in many lines.
  const lines = Array.from({ length: 40 }, () => bytesOf("data: xx\n"));
  expect(() => read(lines, 100)).toThrow("too large");
});

test("nothing more is handed over once enough is there, even if it has come", () => {
  const taken: string[] = [];
  const take = ({ data }: UpstreamEvent) => taken.push(data) < 2;
  const reader = createEventReader({ maxBytes: 100, take }, () => new Error());
  expect(reader.feed(bytesOf("data: a\n\n"))).toBe(true);
  expect(reader.feed(bytesOf("data: b\n\ndata: c\n\ndata: d"))).toBe(false);
  reader.end();
  expect(taken).toEqual(["a", "b"]);
});

test("only a success that says it is a stream of events is one", () => {
  const of = (ok: boolean, type: string) =>
    isEventStream({ ok, headers: new Headers({ "content-type": type }) });
  expect(of(true, "text/event-stream")).toBe(true);
  expect(of(true, "Text/Event-Stream; charset=utf-8")).toBe(true);
  expect(of(false, "text/event-stream")).toBe(false);
  expect(of(true, "application/json")).toBe(false);
  expect(isEventStream({ ok: true, headers: new Headers() })).toBe(false);
});

import { expect, test } from "bun:test";
import { createOtlpExporter, type Span } from "../../src/runtime/otlp.ts";
import { fakeClock } from "../helpers/engine.ts";

const SPAN: Span = {
  ...{ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", name: "task" },
  ...{ kind: "internal", startAt: 1_764_000_000_000, endAt: 1_764_000_000_001.5, attributes: {} },
};

/** An exporter whose collector answers as the test says. */
function setup(answer: () => number | Promise<number> = () => 200) {
  const clock = fakeClock();
  const bodies: string[] = [];
  const counts = { exported: 0, dropped: 0 };
  const told: string[] = [];
  const write = (_: object, message: string) => void told.push(message);
  const exporter = createOtlpExporter({
    clock,
    log: { info: write, warn: write },
    tally: {
      spans(outcome, count) {
        counts[outcome] += count;
      },
    },
    post: async (body, signal) => {
      bodies.push(body);
      const { promise, reject } = Promise.withResolvers<never>();
      const abort = () => reject(new Error("took too long"));
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort);
      return await Promise.race([answer(), promise]);
    },
    resource: { "service.name": "svc" },
    version: "1.2.3",
  });
  /** Lets the exporter look again, and what it awaits resolve. */
  const pass = async (ms = 2_000) => {
    clock.advance(ms);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    await new Promise(setImmediate);
  };
  return { exporter, bodies, counts, told, pass };
}

test("a span is sent as the protocol has it: ids in hexadecimal, times in nanoseconds as texts, values by type", async () => {
  const { exporter, bodies, counts, pass } = setup();
  const attributes = { text: "a", whole: 3, part: 0.5, is: false, absent: undefined };
  exporter.add({
    ...{ ...SPAN, parentSpanId: "00f067aa0ba902b7", kind: "client", attributes, error: "broken" },
    events: [{ name: "poll", at: 1_764_000_000_000.25 }],
  });
  await pass();
  expect(bodies.map((body) => JSON.parse(body))).toEqual([
    {
      resourceSpans: [
        {
          resource: { attributes: [{ key: "service.name", value: { stringValue: "svc" } }] },
          scopeSpans: [
            {
              scope: { name: "svc", version: "1.2.3" },
              spans: [
                {
                  traceId: SPAN.traceId,
                  spanId: SPAN.spanId,
                  parentSpanId: "00f067aa0ba902b7",
                  name: "task",
                  kind: 3,
                  startTimeUnixNano: "1764000000000000000",
                  endTimeUnixNano: "1764000000001500000",
                  attributes: [
                    { key: "text", value: { stringValue: "a" } },
                    { key: "whole", value: { intValue: "3" } },
                    { key: "part", value: { doubleValue: 0.5 } },
                    { key: "is", value: { boolValue: false } },
                  ],
                  events: [{ timeUnixNano: "1764000000000250000", name: "poll", attributes: [] }],
                  status: { code: 2, message: "broken" },
                },
              ],
            },
          ],
        },
      ],
    },
  ]);
  expect(counts).toEqual({ exported: 1, dropped: 0 });
});

test("a collector that hangs is asked once at a time, and what is beyond the buffer is dropped and counted", async () => {
  const { exporter, bodies, counts, told, pass } = setup(() => new Promise(() => {}));
  for (let i = 0; i < 5_000; i++) exporter.add(SPAN);
  await pass();
  await pass();
  expect([bodies.length, counts.dropped]).toEqual([1, 5_000 - 4_096]);
  await pass(10_000);
  expect(told).toEqual(["traces cannot be sent; some will be lost"]);
});

test("spans are sent again after a passing refusal, and dropped after another one", async () => {
  const statuses = [503, 429, 200, 400, 200];
  const { exporter, bodies, counts, told, pass } = setup(() => statuses.shift() ?? 200);
  exporter.add(SPAN);
  for (let i = 0; i < 3; i++) await pass();
  expect([bodies.length, counts]).toEqual([3, { exported: 1, dropped: 0 }]);
  exporter.add(SPAN);
  await pass();
  exporter.add(SPAN);
  await pass();
  expect(counts).toEqual({ exported: 2, dropped: 1 });
  expect(told).toEqual([
    "traces cannot be sent; some will be lost",
    "traces are taken again",
    "traces cannot be sent; some will be lost",
    "traces are taken again",
  ]);
});

test("what waits is sent at the end, and a collector that hangs holds the end up for two seconds", async () => {
  const quick = setup();
  quick.exporter.add(SPAN);
  await quick.exporter.stop();
  expect(quick.counts.exported).toBe(1);
  const hanging = setup(() => new Promise(() => {}));
  hanging.exporter.add(SPAN);
  const stopped = hanging.exporter.stop();
  await hanging.pass();
  await stopped;
  expect(hanging.counts.dropped).toBe(1);
});

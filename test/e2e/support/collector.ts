import { expect } from "bun:test";

/** A span that a collector got. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly events: readonly unknown[];
  readonly values: Readonly<Record<string, unknown>>;
}

export type Collector = ReturnType<typeof startCollector>;

/** A collector of traces that takes what is right by OTLP/HTTP JSON, and nothing else; or one that never answers. */
export function startCollector({ hangs = false } = {}) {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const keys = new Set<string | null>();
  const faults: unknown[] = [];
  const waiting: (() => void)[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (hangs) return new Promise<Response>(() => {});
      try {
        expect([request.method, new URL(request.url).pathname]).toEqual(["POST", "/v1/traces"]);
        expect(request.headers.get("content-type")).toBe("application/json");
        keys.add(request.headers.get("x-key"));
        const text = await request.text();
        texts.push(text);
        spans.push(...readSpans(JSON.parse(text)));
      } catch (error) {
        faults.push(error);
        return new Response(null, { status: 400 });
      } finally {
        for (const wake of waiting.splice(0)) wake();
      }
      return Response.json({});
    },
  });
  const ofTask = (task: string) => (span: CollectedSpan) => span.values["svc.task_id"] === task;
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans: () => spans,
    text: () => texts.join("\n"),
    keys: () => keys,
    /** The first span of a name, of a task if one is given, once it is there. */
    async find(name: string, task?: string): Promise<CollectedSpan> {
      for (;;) {
        expect(faults).toEqual([]);
        const isOfTask = task === undefined ? () => true : ofTask(task);
        const found = spans.find((span) => span.name === name && isOfTask(span));
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    stop: () => server.stop(true),
  };
}

const HEX = (digits: number) => expect.stringMatching(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`));
const NANOS = expect.stringMatching(/^\d{19}$/);

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Reads an `ExportTraceServiceRequest`. @throws where it is not as opentelemetry-proto 1.5 has it in JSON */
function readSpans(body: {
  resourceSpans: { resource: object; scopeSpans: { scope: object; spans: object[] }[] }[];
}) {
  return body.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    expect(valuesOf((resource as { attributes: Attribute[] }).attributes)).toMatchObject({
      "service.name": "svc",
      "service.version": expect.any(String),
    });
    return scopeSpans.flatMap(({ scope, spans }) => {
      expect(scope).toEqual({ name: "svc", version: expect.any(String) });
      return spans.map(readSpan);
    });
  });
}

function readSpan(given: object): CollectedSpan {
  const span = given as CollectedSpan & {
    readonly parentSpanId?: string;
    readonly kind: number;
    readonly startTimeUnixNano: string;
    readonly endTimeUnixNano: string;
    readonly attributes: Attribute[];
  };
  const { parentSpanId, ...others } = span;
  if (parentSpanId !== undefined) expect(parentSpanId).toEqual(HEX(16));
  expect(others).toEqual({
    ...{ traceId: HEX(32), spanId: HEX(16), name: expect.any(String) },
    kind: expect.any(Number),
    ...{ startTimeUnixNano: NANOS, endTimeUnixNano: NANOS },
    ...{ attributes: expect.any(Array), events: expect.any(Array), status: expect.any(Object) },
  } as unknown as typeof others);
  const ms = (nanos: string) => Number(BigInt(nanos) / 1000n) / 1000;
  return {
    ...span,
    startMs: ms(span.startTimeUnixNano),
    endMs: ms(span.endTimeUnixNano),
    values: valuesOf(span.attributes),
  };
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const entries = Object.entries(value);
      expect(entries).toHaveLength(1);
      const [[type, content] = ["", undefined]] = entries;
      expect(["stringValue", "intValue", "doubleValue", "boolValue"]).toContain(type);
      return [key, type === "intValue" ? Number(content) : content];
    }),
  );
}

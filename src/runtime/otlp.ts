import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { Tally } from "../domain/ports/tally.ts";
import type { Attributes, Took } from "../domain/tracing.ts";

/** A span with its ids, as a collector gets it. */
export interface Span extends Took {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
}

export interface ExporterDeps {
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly tally: Pick<Tally, "spans">;
  /** POSTs JSON to the collector. @returns the status @throws for no answer */
  readonly post: (body: string, signal: AbortSignal) => Promise<number>;
  readonly resource: Attributes;
  /** Of this program. */
  readonly version: string;
}

/** Most spans that wait. More are dropped, because a collector that hangs must not cost memory. */
const MOST_WAITING = 4_096;
const BATCH = 256;
const EVERY_MS = 2_000;
const TIMEOUT_MS = 10_000;
/** Answers after which the same spans are sent again (https://opentelemetry.io/docs/specs/otlp/, checked 2026-11-23). */
const PASSING = [429, 502, 503, 504];
const LAST_TRY_MS = 2_000;

/**
 * Sends spans by OTLP/HTTP with JSON, a batch at a time. Written here because what is told is known only afterwards, from what is
 * stored with tasks, with ids of our own, by any process: an SDK's spans begin and end in one.
 */
export function createOtlpExporter(deps: ExporterDeps) {
  const { clock, log, tally } = deps;
  let waiting: Span[] = [];
  let sending: Promise<void> | undefined;
  let cancel: (() => void) | undefined;
  let isStopped = false;
  const ending = new AbortController();
  const telling = createTelling(log);

  function schedule(): void {
    if (cancel !== undefined || sending !== undefined || isStopped || waiting.length === 0) return;
    cancel = clock.after(EVERY_MS, () => {
      cancel = undefined;
      sending = send().finally(() => {
        sending = undefined;
        schedule();
      });
    });
  }

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      const trouble = await post(deps, batch, ending.signal);
      if (trouble?.passes === true && !isStopped) {
        telling.failed(trouble.reason);
        return;
      }
      waiting = waiting.slice(batch.length);
      tally.spans(trouble === undefined ? "exported" : "dropped", batch.length);
      if (trouble !== undefined) {
        telling.failed(trouble.reason);
        return;
      }
      telling.worked();
    }
  }

  return {
    add(span: Span): void {
      if (waiting.length >= MOST_WAITING || isStopped) {
        tally.spans("dropped", 1);
        return;
      }
      waiting.push(span);
      schedule();
    },
    /** Sends what waits, for two seconds at most. */
    async stop(): Promise<void> {
      isStopped = true;
      cancel?.();
      const stopWaiting = clock.after(LAST_TRY_MS, () => ending.abort());
      await sending;
      await send();
      stopWaiting();
    },
  };
}

/** @returns what went wrong, and whether the same spans may be taken later */
async function post(
  deps: ExporterDeps,
  batch: readonly Span[],
  ending: AbortSignal,
): Promise<{ readonly passes: boolean; readonly reason: string } | undefined> {
  const limit = new AbortController();
  const stop = deps.clock.after(TIMEOUT_MS, () => limit.abort());
  try {
    const status = await deps.post(encode(deps, batch), AbortSignal.any([limit.signal, ending]));
    if (status >= 200 && status < 300) return undefined;
    return { passes: PASSING.includes(status), reason: `answered ${status}` };
  } catch (error) {
    return { passes: true, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    stop();
  }
}

/** Logs once when sending begins to fail, and once when it works again. */
function createTelling(log: ExporterDeps["log"]) {
  let isFailing = false;
  return {
    failed(reason: string): void {
      if (!isFailing) log.warn({ reason }, "traces cannot be sent; some will be lost");
      isFailing = true;
    },
    worked(): void {
      if (isFailing) log.info({}, "traces are taken again");
      isFailing = false;
    },
  };
}

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

/** The body of a request, `ExportTraceServiceRequest` in JSON. */
function encode(
  { resource, version }: Pick<ExporterDeps, "resource" | "version">,
  spans: readonly Span[],
): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "svc", version }, spans: spans.map(encodeSpan) }],
      },
    ],
  });
}

function encodeSpan(span: Span) {
  const { traceId, spanId, parentSpanId, name, kind, startAt, endAt, attributes, events = [], error } = span;
  return {
    ...{ traceId, spanId, parentSpanId, name },
    kind: KINDS[kind],
    startTimeUnixNano: nanos(startAt),
    endTimeUnixNano: nanos(endAt),
    attributes: attributesOf(attributes),
    events: events.map((event) => ({
      ...{ timeUnixNano: nanos(event.at), name: event.name },
      attributes: attributesOf(event.attributes ?? {}),
    })),
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error },
  };
}

/** Too large for a number: 64 bits are texts in this JSON. */
const nanos = (ms: number): string => `${Math.round(ms * 1_000)}000`;

function attributesOf(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValueOf(value) }],
  );
}

function anyValueOf(value: string | number | boolean) {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

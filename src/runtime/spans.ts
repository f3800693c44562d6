import type { AttemptId } from "../domain/ids.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Spans } from "../domain/ports/spans.ts";
import type { Task } from "../domain/task/task.ts";
import {
  endedParts,
  type Poll,
  queuePart,
  readTraceparent,
  submitKey,
  type TaskPart,
  traceparentOf,
  wholeKey,
} from "../domain/tracing.ts";
import type { Span } from "./otlp.ts";

export interface SpansDeps {
  readonly clock: Pick<Clock, "now">;
  readonly add: (span: Span) => void;
  /** The share of requests without a trace of their own that is traced, 0 to 1. */
  readonly share: number;
  /** Whether a task's span says its prompt. */
  readonly tellsPrompts: boolean;
}

/** Polls that are kept of an attempt, and attempts of which any are. */
const MOST_POLLS = 64;
const MOST_ATTEMPTS = 10_000;

/** Makes spans of what happens. A task's place is stored with its request; the ids of its parts follow from its own. */
export function createSpans({ clock, add, share, tellsPrompts }: SpansDeps): Spans {
  const polls = createPolls();

  function tell(task: Pick<Task, "id" | "request">, part: TaskPart): void {
    const trace = readTraceparent(task.request.trace);
    if (trace === undefined) return;
    const { key, ...took } = part;
    const whole = wholeKey(task.id);
    const parentSpanId = key === whole ? trace.spanId : spanIdOf(whole);
    add({ ...took, traceId: trace.traceId, spanId: spanIdOf(key), parentSpanId });
  }

  return {
    open(traceparent) {
      const caller = readTraceparent(traceparent);
      const spanId = randomHex(8);
      if (caller !== undefined) return { ...caller, spanId, parentSpanId: caller.spanId };
      const traceId = randomHex(16);
      return { traceId, spanId, isSampled: Number.parseInt(traceId.slice(0, 8), 16) < share * 2 ** 32 };
    },
    answered({ isSampled, traceId, spanId, parentSpanId }, took) {
      if (isSampled) add({ ...took, traceId, spanId, parentSpanId });
    },
    began(lease, lane, at) {
      const part = queuePart(lease, lane, at);
      if (part !== undefined) tell(lease.task, part);
    },
    polled: ({ id }) => polls.note(id, clock.now()),
    applied(lease, transition) {
      const { task, attempt } = lease;
      const asked = attempt !== undefined && transition.to !== task.stage ? polls.take(attempt.id) : [];
      if (task.request.trace === undefined) return;
      for (const part of endedParts(lease, transition, asked)) {
        const isTold = tellsPrompts && part.key === wholeKey(task.id);
        const attributes = { ...part.attributes, "svc.prompt": isTold ? task.request.prompt : undefined };
        tell(task, { ...part, attributes });
      }
    },
    submission({ request }, attempt) {
      const trace = readTraceparent(request.trace);
      return trace && traceparentOf({ ...trace, spanId: spanIdOf(submitKey(attempt)) });
    },
    sent(task, callback, delivery, tookMs) {
      const endAt = clock.now();
      const status = "status" in delivery ? delivery.status : undefined;
      tell(task, {
        ...{ name: "callback", kind: "client", key: `${callback.id} ${callback.attempts} ${endAt}` },
        ...{ startAt: endAt - tookMs, endAt },
        attributes: {
          "svc.task_id": task.id,
          "svc.callback_id": callback.id,
          "server.address": callback.host,
          "svc.outcome": delivery.kind,
          "http.response.status_code": status,
        },
        error: delivery.kind === "delivered" ? undefined : delivery.kind,
      });
    },
  };
}

/** Keeps when attempts under way were asked after. */
function createPolls() {
  const kept = new Map<AttemptId, Poll[]>();
  return {
    note(id: AttemptId, at: number): void {
      const known = kept.get(id);
      if (known === undefined && kept.size >= MOST_ATTEMPTS) return;
      if (known === undefined) kept.set(id, [{ at }]);
      else if (known.length < MOST_POLLS) known.push({ at });
    },
    take(id: AttemptId): readonly Poll[] {
      const polls = kept.get(id) ?? [];
      kept.delete(id);
      return polls;
    },
  };
}

const HEX = 16;
const SPAN_ID_DIGITS = 16;

function spanIdOf(key: string): string {
  return new Bun.CryptoHasher("sha256").update(key).digest("hex").slice(0, SPAN_ID_DIGITS);
}

function randomHex(bytes: number): string {
  let text = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(bytes)))
    text += byte.toString(HEX).padStart(2, "0");
  return text;
}

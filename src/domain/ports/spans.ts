import type { Callback, Delivery } from "../callback/callback.ts";
import type { LaneId } from "../ids.ts";
import type { Attempt, Lease, Task } from "../task/task.ts";
import type { Transition } from "../task/transition.ts";
import type { Took, TraceContext } from "../tracing.ts";

/** A request's place in a trace: its own span, and its caller's span if there is one. */
export interface RequestTrace extends TraceContext {
  readonly parentSpanId?: string | undefined;
}

/**
 * Reports to a collector of traces how long things took. Returns at once and never throws. Spans that cannot be reported are
 * dropped and counted.
 */
export interface Spans {
  /** The place of a request that came with this `traceparent`, or without one. */
  open(traceparent: string | null): RequestTrace;
  answered(trace: RequestTrace, took: Took): void;
  /** An attempt of the leased task begins. */
  began(lease: Pick<Lease, "task" | "attempt">, lane: LaneId, at: number): void;
  polled(attempt: Attempt): void;
  /** A transition was applied; its attempt contains its measured times. */
  applied(lease: Lease, transition: Transition): void;
  /** The `traceparent` of an attempt's submission, for its upstream; undefined for a task that is not traced. */
  submission(task: Pick<Task, "request">, attempt: Pick<Attempt, "id">): string | undefined;
  /** A callback was sent. */
  sent(task: Task, callback: Callback, delivery: Delivery, tookMs: number): void;
}

import type { LaneId, ModelId, TaskId } from "./ids.ts";
import { formatAmount } from "./money/money.ts";
import type { Attempt, Lease, Stage, Task } from "./task/task.ts";
import type { Transition } from "./task/transition.ts";

/** One place of a trace (https://www.w3.org/TR/trace-context/, checked 2026-11-23). Ids are lower-case hexadecimal, 32 and 16 digits. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether a caller before us records the trace, or we do. */
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads the header `traceparent`; undefined if it is absent or if the standard says to ignore it. */
export function readTraceparent(text: string | null | undefined): TraceContext | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = TRACEPARENT.exec(text ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function traceparentOf({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Something that took time. Times are epoch milliseconds. */
export interface Took {
  readonly name: string;
  readonly kind: "server" | "client" | "internal";
  readonly startAt: number;
  readonly endAt: number;
  readonly attributes: Attributes;
  readonly events?: readonly {
    readonly name: string;
    readonly at: number;
    readonly attributes?: Attributes;
  }[];
  /** Why it failed, in our words. */
  readonly error?: string | undefined;
}

/**
 * A part of a task's way. Its id follows from its `key` and is the same in each process, so a part can be referred to before it
 * is reported.
 */
export interface TaskPart extends Took {
  readonly key: string;
}

/** The key of a whole task. All parts of the task are below it. */
export const wholeKey = (id: TaskId): string => `${id} task`;
/** The key of a submission. The upstream gets its id as parent. */
export const submitKey = ({ id }: Pick<Attempt, "id">): string => `${id} submit`;

/** The wait of a task until an attempt begins; undefined if the start of the wait is not known. */
export function queuePart(
  { task, attempt: before }: Pick<Lease, "task" | "attempt">,
  lane: LaneId,
  at: number,
): TaskPart | undefined {
  const startAt = task.attempts === 0 ? task.createdAt : before?.endedAt;
  if (startAt === undefined) return undefined;
  const attributes = { "svc.task_id": task.id, "svc.lane": lane };
  return { ...part("queue", `${task.id} queue ${task.attempts}`, startAt, at), attributes };
}

/** A poll of an upstream for a job. */
export interface Poll {
  readonly at: number;
}

/** The parts that end with a transition, with the whole task last. They contain no prompts. */
export function endedParts(
  { task, attempt }: Lease,
  transition: Transition,
  polls: readonly Poll[],
): TaskPart[] {
  const parts = attempt === undefined ? [] : attemptParts(task, attempt, transition, polls);
  const { ending, at } = transition;
  if (ending === undefined) return parts;
  const attributes = {
    ...ofTask(task),
    "svc.request_id": task.requestId,
    "svc.account_id": task.accountId,
    "svc.status": ending.status,
    "svc.attempts": task.attempts,
    "svc.cost_usd": formatAmount(ending.charged),
    "error.type": ending.error?.code,
  };
  const whole = {
    ...part("task", wholeKey(task.id), task.createdAt, at),
    attributes,
    error: ending.error?.code,
  };
  return [...parts, whole];
}

const STAGE_NAMES = {
  submitting: "submit",
  running: "generate",
  finalizing: "finalize",
} as const satisfies Partial<Record<Stage, string>>;

function attemptParts(
  task: Task,
  attempt: Attempt,
  transition: Transition,
  polls: readonly Poll[],
): TaskPart[] {
  const { to, at, ending, attempt: change } = transition;
  const { stage } = task;
  if (stage === to || stage === "queued" || stage === "terminal") return [];
  const { id, lane, upstreamModel, startedAt, acceptedAt = startedAt, madeAt = acceptedAt } = attempt;
  const began = { submitting: startedAt, running: acceptedAt, finalizing: madeAt }[stage];
  const attributes = {
    ...ofTask(task),
    "svc.attempt_id": id,
    "svc.lane": lane,
    "svc.upstream_model": upstreamModel,
  };
  const { fetchMs = 0, storeMs = 0 } = change?.trace ?? {};
  // Outputs that came with an answer were stored before anything was written.
  const storedMs = stage === "finalizing" || ending?.status !== "completed" ? 0 : fetchMs + storeMs;
  const madeUntil = Math.max(began, at - storedMs);
  const name = STAGE_NAMES[stage];
  const error =
    change?.state === "rejected" || to === "queued" || ending?.status === "failed" ? "error" : undefined;
  const first = {
    ...part(name, stage === "submitting" ? submitKey(attempt) : `${id} ${name}`, began, madeUntil),
    kind: stage === "finalizing" ? ("internal" as const) : ("client" as const),
    attributes: {
      ...attributes,
      "http.response.status_code": stage === "submitting" ? change?.trace?.httpStatus : undefined,
    },
    events: stage === "running" ? polls.map((poll) => ({ name: "poll", at: poll.at })) : [],
    error: error && (ending?.error?.code ?? change?.state ?? error),
  };
  if (storedMs === 0) return [first];
  return [first, { ...part("finalize", `${id} finalize`, madeUntil, at), attributes }];
}

function ofTask(task: { readonly id: TaskId; readonly model: ModelId; readonly kind: string }) {
  return { "svc.task_id": task.id, "svc.model": task.model, "svc.kind": task.kind };
}

function part(name: string, key: string, startAt: number, endAt: number): TaskPart {
  return { name, key, kind: "internal", startAt, endAt: Math.max(startAt, endAt), attributes: {} };
}

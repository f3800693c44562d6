import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import type { Role } from "../../api/session.ts";

type Managed = Schemas["ManagedTaskTrace"];
type Task = Schemas["TracedTask"] & Partial<Pick<Schemas["ManagedTracedTask"], "account" | "provider">>;
type Attempt = Schemas["TaskTrace"]["attempts"][number] &
  Partial<
    Pick<
      Managed["attempts"][number],
      "provider" | "account" | "upstream_model" | "detail" | "cost" | "upstream_id"
    >
  >;

/** All that is known of a task. What providers said and cost, only operators are told. */
export interface Trace extends Omit<Schemas["TaskTrace"], "task" | "attempts"> {
  readonly task: Task;
  readonly attempts: readonly Attempt[];
}

/** @throws ApiProblem */
export function readTrace(role: Role, id: string, signal?: AbortSignal): Promise<Trace> {
  return role === "operator"
    ? ask("GET /admin/v1/tasks/{id}/trace", { path: { id } }, { signal })
    : ask("GET /v1/tasks/{task_id}/trace", { path: { task_id: id } }, { signal });
}

/** Asks for the task's end. @throws ApiProblem */
export async function cancelTask(role: Role, id: string): Promise<void> {
  if (role === "operator") await ask("POST /admin/v1/tasks/{id}/cancel", { path: { id } });
  else await ask("POST /v1/tasks/{task_id}/cancel", { path: { task_id: id } });
}

/** Makes the task once more, as a new one. @returns its id @throws ApiProblem */
export async function retryTask(id: string, idempotencyKey: string): Promise<string> {
  const input = { path: { task_id: id } };
  const { task_id } = await ask("POST /v1/tasks/{task_id}/retry", input, { idempotencyKey });
  return task_id;
}

export function isLive({ status }: Pick<Task, "status">): boolean {
  return status === "pending" || status === "processing";
}

/** A stretch of time in the waterfall. */
export interface Bar {
  readonly name: string;
  /** 0 is a part of the task itself, 1 an attempt, 2 a phase of it. */
  readonly depth: 0 | 1 | 2;
  /** Milliseconds since the task was accepted. */
  readonly fromMs: number;
  readonly lengthMs: number;
}

/** In the order in which an attempt goes through them. The queue is before it. */
const PHASES = ["connect", "upload", "submit", "polls", "fetch", "store"] as const;

/** The task's time: its stages, and below them its attempts with what each spent its time on. */
export function barsOf({ task, attempts }: Pick<Trace, "task" | "attempts">): Bar[] {
  const startMs = Date.parse(task.timeline[0]?.at ?? new Date(task.created_at * 1_000).toISOString());
  const since = (at: string) => Math.max(0, Date.parse(at) - startMs);
  const stages = task.timeline
    .filter(({ duration_ms }) => duration_ms !== undefined)
    .map(
      ({ stage, at, duration_ms = 0 }): Bar => ({
        name: stage,
        depth: 0,
        fromMs: since(at),
        lengthMs: duration_ms,
      }),
    );
  const endMs = Math.max(0, ...stages.map(({ fromMs, lengthMs }) => fromMs + lengthMs));
  return [...stages, ...attempts.flatMap((attempt) => barsOfAttempt(attempt, since, endMs))];
}

function barsOfAttempt(attempt: Attempt, since: (at: string) => number, endMs: number): Bar[] {
  const fromMs = since(attempt.started_at);
  const whole = (attempt.ended_at === undefined ? endMs : since(attempt.ended_at)) - fromMs;
  let at = fromMs;
  const phases = PHASES.flatMap((name): Bar[] => {
    const phase = attempt.phases[name];
    if (phase === undefined) return [];
    at += phase.duration_ms;
    const polls = name === "polls" && phase.count !== undefined ? ` (${phase.count})` : "";
    return [{ name: name + polls, depth: 2, fromMs: at - phase.duration_ms, lengthMs: phase.duration_ms }];
  });
  return [{ name: `attempt ${attempt.number}`, depth: 1, fromMs, lengthMs: Math.max(0, whole) }, ...phases];
}

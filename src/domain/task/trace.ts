import type { TaskStory } from "./story.ts";
import type { Attempt } from "./task.ts";

/** The parts of an attempt, in order. They do not overlap. */
export const PHASES = ["queue", "connect", "upload", "submit", "polls", "fetch", "store"] as const;
export type Phase = (typeof PHASES)[number];

export interface PhaseSpan {
  readonly durationMs: number;
  /** Of polls: how many. */
  readonly count?: number | undefined;
  /** Of polls: how many had no good answer; absent for none. */
  readonly failed?: number | undefined;
}

/** Absent members were not measured, or are not part of it. */
export type Phases = { readonly [Name in Phase]?: PhaseSpan | undefined };

/** Where the time of an attempt was spent. Durations are never negative, even if the clock was set back. */
export function phasesOf(
  { task, attempts }: Pick<TaskStory, "task" | "attempts">,
  attempt: Attempt,
  now: number,
): Phases {
  const { sequence, startedAt, acceptedAt, madeAt, trace = {} } = attempt;
  const before = attempts.find((each) => each.sequence === sequence - 1);
  const queuedAt = sequence === 1 ? task.createdAt : before?.endedAt;
  const { endedAt = now } = attempt;
  // Outputs that came with the answer to a poll were stored before anything was written.
  const polledUntil = madeAt ?? endedAt - (trace.storeMs ?? 0);
  const isPolled = acceptedAt !== undefined && (attempt.endedAt === undefined || trace.polls !== undefined);
  return {
    queue: spanOf(queuedAt === undefined ? undefined : startedAt - queuedAt),
    connect: spanOf(trace.connectMs),
    upload: spanOf(trace.uploadMs),
    submit: spanOf(trace.submitMs),
    polls: isPolled
      ? { ...spanOf(polledUntil - acceptedAt), count: trace.polls, failed: failedOf(task, attempt) }
      : undefined,
    fetch: spanOf(trace.fetchMs),
    store: spanOf(trace.storeMs),
  };
}

/** Those in a row are in the task after each poll, and all others in the trace with the next thing that is written of the attempt. */
function failedOf({ stage, failures }: TaskStory["task"], { endedAt, trace }: Attempt): number | undefined {
  const inRow = endedAt === undefined && stage === "running" ? failures : 0;
  return Math.max(inRow, trace?.failedPolls ?? 0) || undefined;
}

function spanOf(durationMs: number): PhaseSpan;
function spanOf(durationMs: number | undefined): PhaseSpan | undefined;
function spanOf(durationMs: number | undefined): PhaseSpan | undefined {
  return durationMs === undefined ? undefined : { durationMs: Math.max(0, durationMs) };
}

import type { TaskStory } from "./story.ts";
import type { Attempt } from "./task.ts";

/** The parts of an attempt, in order. They do not overlap. */
export const PHASES = ["queue", "connect", "upload", "submit", "polls", "fetch", "store"] as const;
export type Phase = (typeof PHASES)[number];

export interface PhaseSpan {
  readonly durationMs: number;
  /** Of polls: how many. */
  readonly count?: number | undefined;
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
    polls: isPolled ? { ...spanOf(polledUntil - acceptedAt), count: trace.polls } : undefined,
    fetch: spanOf(trace.fetchMs),
    store: spanOf(trace.storeMs),
  };
}

function spanOf(durationMs: number): PhaseSpan;
function spanOf(durationMs: number | undefined): PhaseSpan | undefined;
function spanOf(durationMs: number | undefined): PhaseSpan | undefined {
  return durationMs === undefined ? undefined : { durationMs: Math.max(0, durationMs) };
}

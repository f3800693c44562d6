import type { LaneId } from "../domain/ids.ts";
import { ZERO } from "../domain/money/money.ts";
import type { Spans } from "../domain/ports/spans.ts";
import type { AttemptOutcome, EndedAttempt, EndedStage, Tally } from "../domain/ports/tally.ts";
import type { Lease } from "../domain/task/task.ts";
import type { Transition } from "../domain/task/transition.ts";

/** Who is told of what ends. */
export interface Watchers {
  readonly tally: Pick<Tally, "stageEnded" | "attemptEnded" | "ended" | "cancelled">;
  /** Absent if nothing is traced. */
  readonly spans?: Spans | undefined;
}

/** Counts and traces what ended with a transition: a stage, an attempt, the task. */
export function measure({ tally, spans }: Watchers, lease: Lease, transition: Transition): void {
  spans?.applied(lease, transition);
  const stage = endedStage(lease, transition);
  if (stage !== undefined) tally.stageEnded(stage);
  const attempt = endedAttempt(lease, transition);
  if (attempt !== undefined) tally.attemptEnded(attempt);
  const { ending, at } = transition;
  if (ending === undefined) return;
  const { model, lane: provider, createdAt } = lease.task;
  const { status, charged } = ending;
  if (status === "cancelled") tally.cancelled(model);
  else tally.ended({ model, provider, status, durationMs: Math.max(0, at - createdAt), charged });
}

/** Records how long a task waited for an attempt; in the tally only for the first attempt. */
export function measureQueue({ tally, spans }: Watchers, lease: Lease, lane: LaneId, at: number): void {
  spans?.began(lease, lane, at);
  const { attempts, createdAt } = lease.task;
  if (attempts === 0) tally.stageEnded({ stage: "queued", lane, durationMs: Math.max(0, at - createdAt) });
}

/** The stage that the task has left, unless it returns to the queue. The time in the queue is known when an attempt begins. */
function endedStage({ task, attempt }: Lease, { to, at }: Transition): EndedStage | undefined {
  const { stage } = task;
  if (attempt === undefined || to === stage || to === "queued" || stage === "queued" || stage === "terminal")
    return undefined;
  const { lane, startedAt, acceptedAt = startedAt, madeAt = acceptedAt } = attempt;
  const began = { submitting: startedAt, running: acceptedAt, finalizing: madeAt }[stage];
  return { stage, lane, durationMs: Math.max(0, at - began) };
}

function endedAttempt({ attempt }: Lease, transition: Transition): EndedAttempt | undefined {
  const outcome = outcomeOf(transition, attempt?.state === "ambiguous");
  if (attempt === undefined || outcome === undefined) return undefined;
  const { lane, upstreamModel } = attempt;
  return { lane, upstreamModel, outcome, cost: transition.attempt?.costMicros ?? ZERO };
}

function outcomeOf(
  { attempt: change, ending }: Transition,
  wasAmbiguous: boolean,
): AttemptOutcome | undefined {
  switch (change?.state) {
    case "ambiguous":
      return wasAmbiguous ? undefined : "unanswered";
    case "rejected":
      return "rejected";
    case "done":
      return ending?.status ?? "failed";
    default:
      return undefined;
  }
}

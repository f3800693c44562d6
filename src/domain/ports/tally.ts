import type { Delivery } from "../callback/callback.ts";
import type { LaneId, ModelId } from "../ids.ts";
import type { Micros } from "../money/money.ts";
import type { EndedTask, Endings, HourCounts, Judged, MinuteCounts, RecentEndings } from "../overview.ts";
import type { ShedKind } from "../shedding.ts";
import type { Stage } from "../task/task.ts";

/** A request that was answered. */
export interface Answered {
  /** Its endpoint's path, with placeholders for the parts that differ between requests; `*` for a path that does not exist. */
  readonly route: string;
  /** As sent. */
  readonly method: string;
  /** Until its answer began. */
  readonly durationMs: number;
}

/** How long a live task was in a stage. */
export interface EndedStage {
  readonly stage: Exclude<Stage, "terminal">;
  readonly lane: LaneId;
  readonly durationMs: number;
}

/**
 * The outcome of an attempt. `unanswered`: nobody knows it yet; the attempt counts once more when it is known. `failed`: the
 * upstream accepted the attempt and made nothing · `rejected`: the upstream did not accept it.
 */
export const ATTEMPT_OUTCOMES = ["completed", "failed", "rejected", "unanswered", "cancelled"] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

export interface EndedAttempt {
  readonly lane: LaneId;
  readonly upstreamModel: string;
  readonly outcome: AttemptOutcome;
  /** What the attempt costs the operator, as far as this is known. */
  readonly cost: Micros;
}

/** Counts events in memory. Every request and task calls it, so each call costs next to nothing. */
export interface Tally {
  /** A request was answered with this HTTP status. */
  answered(status: number, request: Answered): void;
  /** A task was accepted. */
  created(model: ModelId): void;
  ended(task: EndedTask): void;
  /** A task was cancelled. */
  cancelled(model: ModelId): void;
  stageEnded(stage: EndedStage): void;
  attemptEnded(attempt: EndedAttempt): void;
  /** A callback was sent. @param isOver whether the callback is given up after this send */
  callbackSent(outcome: Delivery["kind"], isOver: boolean): void;
  /** A content check has judged a request. */
  moderated(judged: Judged): void;
  /** The event loop ran a timer this late. */
  lagged(durationMs: number): void;
  /** A number of spans was reported, or given up. */
  spans(outcome: "exported" | "dropped", count: number): void;
  /** A request was refused because the service is overloaded. */
  shed(kind: ShedKind): void;
}

/** What a tally counted. */
export interface Counts {
  /** Adds tasks that ended before this process began to count. */
  recall(endings: RecentEndings): void;
  minute(): MinuteCounts;
  hour(): HourCounts;
  /** How tasks of a model ended at an account in the last hour. */
  hourOf(provider: LaneId, model: ModelId): Endings;
}

import type { Delivery } from "../callback/callback.ts";
import type { LaneId, ModelId } from "../ids.ts";
import type { Micros } from "../money/money.ts";
import type { EndedTask, Endings, HourCounts, Judged, MinuteCounts, RecentEndings } from "../overview.ts";
import type { ShedKind } from "../shedding.ts";
import type { Stage } from "../task/task.ts";

/** A request that was answered. */
export interface Answered {
  /** Its endpoint's path, with names for what differs between requests; `*` for a path that there is not. */
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
 * What became of an attempt. `unanswered`: nobody knows, and it counts once more when somebody does. `failed`: the upstream took it, and
 * made nothing of it · `rejected`: the upstream did not take it.
 */
export const ATTEMPT_OUTCOMES = ["completed", "failed", "rejected", "unanswered", "cancelled"] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

export interface EndedAttempt {
  readonly lane: LaneId;
  readonly upstreamModel: string;
  readonly outcome: AttemptOutcome;
  /** What it costs the operator, as far as it is known. */
  readonly cost: Micros;
}

/** Counts what passes, in memory. Called for every request and task, so that each call costs next to nothing. */
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
  /** A callback was sent. @param isOver whether it is given up with this */
  callbackSent(outcome: Delivery["kind"], isOver: boolean): void;
  /** A check of content has judged a request. */
  moderated(judged: Judged): void;
  /** The event loop came so late to a timer. */
  lagged(durationMs: number): void;
  /** So many parts of traces were told, or given up. */
  spans(outcome: "exported" | "dropped", count: number): void;
  /** A request was refused because there is too much to do. */
  shed(kind: ShedKind): void;
}

/** What a tally counted. */
export interface Counts {
  /** Adds tasks that ended before this process counted. */
  recall(endings: RecentEndings): void;
  minute(): MinuteCounts;
  hour(): HourCounts;
  /** How tasks of a model ended at an account in the last hour. */
  hourOf(provider: LaneId, model: ModelId): Endings;
}

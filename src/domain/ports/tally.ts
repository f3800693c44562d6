import type { LaneId, ModelId } from "../ids.ts";
import type { EndedTask, Endings, HourCounts, Judged, MinuteCounts, RecentEndings } from "../overview.ts";

/** Counts what passes, in memory. Called for every request and task, so that each call costs next to nothing. */
export interface Tally {
  /** A request was answered with this HTTP status. */
  answered(status: number): void;
  /** A task was accepted. */
  created(): void;
  ended(task: EndedTask): void;
  /** A check of content has judged a request. */
  moderated(judged: Judged): void;
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

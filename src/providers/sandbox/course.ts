import type { Ending, Job } from "./job-store.ts";
import type { Work } from "./renderings.ts";
import { sketchTimes } from "./sketches.ts";
import type { Rehearsal } from "./spec.ts";

/** A job under way: the request, the rehearsed behaviour, and the state of its rendering, if any. */
export interface Course {
  readonly job: Job;
  readonly rehearsal: Rehearsal;
  readonly work: Work | undefined;
  /** How long jobs of its kind take to render. */
  readonly expectedMs: number;
  readonly now: number;
}

/** Shortest time between two reports of progress. */
const STEP_MS = 500;
/** The longest time that a poll waits for the end of a rendering that is under way. */
export const ENDS_WITHIN_MS = 250;
const MIN_POLL_MS = 15;
const MAX_POLL_MS = 1_000;
/** Progress at which a job that never ends stays. */
const HANGS_AT = 0.5;

/** Tells whether outputs are delivered; only those are rendered. */
export function needsRendering(rehearsal: Rehearsal): boolean {
  return rehearsal.outcome === "completed" && !rehearsal.outputsLost;
}

/** Returns how the job ends now, or undefined while it goes on. An unusable input ends it early. */
export function endingOf({ job, rehearsal, work, now }: Course): Ending | undefined {
  if (work?.kind === "refused") return { state: "failed", code: "INPUT_INVALID", message: work.message };
  if (work?.kind === "broken") return { state: "failed", code: "UPSTREAM_ERROR" };
  if (now < job.readyAt || work?.kind === "rendering") return undefined;
  switch (rehearsal.outcome) {
    case "hang":
      return undefined;
    case "failed":
      return { state: "failed", code: rehearsal.errorCode };
    case "moderated":
      return { state: "failed", code: "CONTENT_MODERATED" };
    case "completed":
      return { state: "succeeded" };
  }
}

/** Progress of the job, 0-99: that of its delay or its rendering, whichever is slower. */
export function progressOf({ job, rehearsal, work, expectedMs, now }: Course): number {
  const delayMs = job.readyAt - job.submittedAt;
  const timeShare = delayMs <= 0 ? 1 : Math.min(1, (now - job.submittedAt) / delayMs);
  const limit = rehearsal.outcome === "hang" ? HANGS_AT : workShare(work, expectedMs);
  return Math.min(99, Math.floor(100 * Math.max(0, Math.min(timeShare, limit))));
}

function workShare(work: Work | undefined, expectedMs: number): number {
  if (work?.kind !== "rendering") return 1;
  return Math.max(work.share, work.elapsedMs / (work.elapsedMs + expectedMs));
}

/** When to poll again: when the job may be done or has a preview to show; undefined when unknown. */
export function pollAfterMs({ job, rehearsal, work, expectedMs, now }: Course): number | undefined {
  const nextSketchAt = sketchTimes(job).find((at) => at > now);
  const sketchMs = nextSketchAt === undefined ? Number.POSITIVE_INFINITY : nextSketchAt - now;
  if (rehearsal.outcome === "hang") return nextSketchAt === undefined ? undefined : sketchMs;
  const leftMs = Math.max(job.readyAt - now, renderingLeftMs(work, expectedMs));
  return Math.min(sketchMs, leftMs, Math.max(STEP_MS, (job.readyAt - job.submittedAt) / 10));
}

function renderingLeftMs(work: Work | undefined, expectedMs: number): number {
  if (work?.kind !== "rendering") return 0;
  const leftMs = expectedMs - work.elapsedMs;
  // It is answered when the rendering ends.
  if (work.isUnderWay) return Math.max(0, Math.min(MAX_POLL_MS, leftMs - ENDS_WITHIN_MS / 2));
  // Overdue by an unknown time: poll again after a fraction of the time it took so far.
  return Math.round(Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, leftMs > 0 ? leftMs : work.elapsedMs / 4)));
}

import type { Clock } from "../domain/ports/runtime.ts";
import type { Counts, Tally } from "../domain/ports/tally.ts";
import { createHistory } from "../runtime/history.ts";
import { createMeter } from "../runtime/meter.ts";
import { createTally } from "../runtime/tally.ts";

/** Counts events: in time windows for the overview, for a day for the history, and since the start for scrapers of metrics. */
export function createCounting(deps: { readonly clock: Pick<Clock, "now" | "elapsed"> }) {
  const windows = createTally(deps);
  const meter = createMeter();
  const history = createHistory(deps.clock.elapsed);
  const tally: Tally & Counts = {
    ...windows,
    ...meter.tally,
    answered(status, request) {
      windows.answered(status);
      history.tally.answered(status);
      meter.tally.answered(status, request);
    },
    created(model) {
      windows.created();
      history.tally.created();
      meter.tally.created(model);
    },
    ended(task) {
      windows.ended(task);
      history.tally.ended(task);
      meter.tally.ended(task);
    },
    stageEnded(stage) {
      history.tally.stageEnded(stage);
      meter.tally.stageEnded(stage);
    },
    attemptEnded(attempt) {
      history.tally.attemptEnded(attempt);
      meter.tally.attemptEnded(attempt);
    },
    lagged(durationMs) {
      history.tally.lagged(durationMs);
      meter.tally.lagged(durationMs);
    },
    moderated(judged) {
      windows.moderated(judged);
      meter.tally.moderated(judged);
    },
  };
  return { tally, counted: meter.read, history };
}

import type { Clock } from "../domain/ports/runtime.ts";
import type { Counts, Tally } from "../domain/ports/tally.ts";
import { createMeter } from "../runtime/meter.ts";
import { createTally } from "../runtime/tally.ts";

/** Counts what passes: in windows of time for the overview, and since the start for those who scrape metrics. */
export function createCounting(deps: { readonly clock: Pick<Clock, "now" | "elapsed"> }) {
  const windows = createTally(deps);
  const meter = createMeter();
  const tally: Tally & Counts = {
    ...windows,
    ...meter.tally,
    answered(status, request) {
      windows.answered(status);
      meter.tally.answered(status, request);
    },
    created(model) {
      windows.created();
      meter.tally.created(model);
    },
    ended(task) {
      windows.ended(task);
      meter.tally.ended(task);
    },
    moderated(judged) {
      windows.moderated(judged);
      meter.tally.moderated(judged);
    },
  };
  return { tally, counted: meter.read };
}

import type { LaneId, TaskId } from "../../domain/ids.ts";
import type { Clock, Log } from "../../domain/ports/runtime.ts";

/** Tells of accounts that are switched off while tasks wait for them. */
export interface Absences {
  waits(lane: LaneId, task: TaskId): void;
}

/** Each of its tasks looks for the account every half minute; the log has a line for the account in this time. */
const QUIET_MS = 10 * 60_000;

export function createAbsences(deps: {
  readonly clock: Pick<Clock, "elapsed">;
  readonly log: Log;
}): Absences {
  const { clock, log } = deps;
  const toldAt = new Map<LaneId, number>();
  return {
    waits(lane, task) {
      const before = toldAt.get(lane);
      const now = clock.elapsed();
      if (before !== undefined && now - before < QUIET_MS) return;
      toldAt.set(lane, now);
      log.warn({ task, provider: lane }, "tasks wait for a provider that is switched off");
    },
  };
}

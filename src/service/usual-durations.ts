import type { ModelId } from "../domain/ids.ts";
import { type UsualDuration, usualDuration } from "../domain/money/usage.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";

/** How many recent tasks of all models are read: enough for a median, and few enough to read at once. */
const LATEST_TASKS = 1000;
/** Durations change slowly, and reading them takes about a millisecond. */
const KEPT_MS = 5_000;

/**
 * How long a model's tasks recently took on this server; undefined if too few of the recent tasks are of this model. At most
 * five seconds old.
 */
export function createUsualDurations(deps: {
  readonly usage: Pick<UsageStore, "recentDurations">;
  readonly clock: Pick<Clock, "elapsed">;
}): (model: ModelId) => Promise<UsualDuration | undefined> {
  type Known = { readonly at: number; readonly byModel: ReadonlyMap<ModelId, UsualDuration | undefined> };
  let known: Known | undefined;

  async function read(now: number) {
    const latest = Map.groupBy(await deps.usage.recentDurations(LATEST_TASKS), (task) => task.model);
    const byModel = [...latest].map(
      ([model, tasks]) => [model, usualDuration(tasks.map((task) => task.durationMs))] as const,
    );
    known = { at: now, byModel: new Map(byModel) };
    return known;
  }

  return async (model) => {
    const now = deps.clock.elapsed();
    const isFresh = known !== undefined && now < known.at + KEPT_MS;
    return (isFresh ? known : await read(now))?.byModel.get(model);
  };
}

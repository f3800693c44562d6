import type { MinuteReading } from "../domain/history.ts";
import type { DiskSpace, Vitals } from "../domain/overview.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";

const MINUTE_MS = 60_000;

export interface KeepHistoryDeps {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Log;
  readonly tasks: Pick<TaskStore, "laneCounts">;
  readonly callbacks: Pick<CallbackStore, "owedCount">;
  readonly vitals: () => Pick<Vitals, "rssBytes">;
  readonly disk: () => DiskSpace;
  /** Closes a minute of the history. */
  readonly endMinute: (at: number, reading: MinuteReading) => void;
}

/**
 * Measures the service once a minute. A minute that cannot be measured is left out and logged. @returns a function that stops
 * it
 */
export function keepHistory(deps: KeepHistoryDeps): () => void {
  const { clock, log } = deps;
  let cancel = () => {};
  let isStopped = false;

  async function read(): Promise<void> {
    // `lanes` and `owed` would have every create, and every end of a task, keep their counts up to date from then on.
    const [lanes, callbacksOwed] = await Promise.all([deps.tasks.laneCounts(), deps.callbacks.owedCount()]);
    const sum = (of: "queued" | "underWay") => lanes.reduce((total, lane) => total + lane[of], 0);
    deps.endMinute(clock.now(), {
      queued: sum("queued"),
      underWay: sum("underWay"),
      callbacksOwed,
      rssBytes: deps.vitals().rssBytes,
      ...deps.disk(),
    });
  }

  function arm(): void {
    if (isStopped) return;
    cancel = clock.after(MINUTE_MS, () => {
      read()
        .catch((error: unknown) =>
          log.warn({ err: error as Error }, "a minute of the history could not be read"),
        )
        .finally(arm);
    });
  }

  arm();
  return () => {
    isStopped = true;
    cancel();
  };
}

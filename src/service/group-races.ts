import { AppError } from "../domain/errors.ts";
import type { TaskId } from "../domain/ids.ts";
import type { Log } from "../domain/ports/runtime.ts";
import type { Race } from "../domain/task/group-terms.ts";
import { isTerminal } from "../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "./cancel-task.ts";

export interface GroupRacesDeps extends CancelTaskDeps {
  readonly log: Log;
  /** Aborts when the service stops. The next start resumes the races. */
  readonly stopping: AbortSignal;
}

export interface GroupRaces {
  /** Cancels the live tasks of a group when one completes, or at once if one has completed. */
  follow(race: Race): void;
  /** Follows the races that other processes follow, and looks at those that this one follows. */
  resume(): Promise<void>;
}

/** How soon a cancel is tried again after it could not be stored. */
const AGAIN_MS = 2_000;

/**
 * Cancels the other tasks of a group with the policy `first`. Its state is in the tasks' requests, so a crash does not lose it.
 */
export function createGroupRaces(deps: GroupRacesDeps): GroupRaces {
  const { tasks, feed, clock, log, stopping } = deps;
  const races = new Map<TaskId, Race>();
  const unsubscribe = feed.subscribeAll((id, isOver) => {
    const race = isOver ? races.get(id) : undefined;
    if (race !== undefined) void look(race);
  });
  stopping.addEventListener("abort", () => {
    unsubscribe();
    races.clear();
  });

  async function look(race: Race): Promise<void> {
    try {
      const found = await Promise.all(race.tasks.map((id) => tasks.summary(id)));
      const live = found.filter((task) => task !== undefined && !isTerminal(task.status));
      const isWon = found.some((task) => task?.status === "completed");
      if (!isWon && live.length > 0) return;
      for (const id of race.tasks) races.delete(id);
      for (const task of live) if (task?.cancelRequested === false) await cancel(race, task.id);
    } catch (error) {
      if (stopping.aborted) return;
      const fields = { task: race.tasks[0], err: error as Error };
      log.warn(fields, "the other tasks of a group could not be cancelled; trying again");
      clock.after(AGAIN_MS, () => void look(race));
    }
  }

  async function cancel(race: Race, id: TaskId): Promise<void> {
    try {
      await cancelTask(deps, race, id);
    } catch (error) {
      // The task has ended meanwhile, or was removed.
      if (!(error instanceof AppError)) throw error;
    }
  }

  async function follow(race: Race): Promise<void> {
    if (stopping.aborted) return;
    for (const id of race.tasks) races.set(id, race);
    // A task may have completed before this call.
    await look(race);
  }

  return {
    follow: (race) => void follow(race),
    async resume() {
      const seen = new Set<TaskId>();
      for (const race of await tasks.races()) {
        const [first] = race.tasks;
        if (first === undefined || seen.has(first)) continue;
        seen.add(first);
        // One after the other: there may be many, and nodes do this again and again.
        await follow(race);
      }
    },
  };
}

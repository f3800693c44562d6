import type { Principal } from "../domain/access/account.ts";
import type { PreviewFeed } from "../domain/ports/runtime.ts";
import type { Preview } from "../domain/task/preview.ts";
import { isTerminal, type TaskStatus, type TaskSummary } from "../domain/task/task.ts";
import { openLatestPreview } from "./latest-preview.ts";
import { nextChange, type ReadTaskDeps, readTask, type TaskReading, withQueuePosition } from "./read-task.ts";

export interface WatchTaskDeps extends ReadTaskDeps {
  readonly previews: PreviewFeed;
}

/** What is told of a task that is watched: a state of it, or an early version of an output. */
export type TaskEvent =
  /** `number` is higher for each later state of the task, and the same whenever that state is read. */
  | { readonly kind: "state"; readonly number: number; readonly task: TaskReading }
  | { readonly kind: "preview"; readonly preview: Preview };

/** How soon a change is seen that nobody told of. */
const LOOK_AGAIN_MS = 15_000;

const RANK = { pending: 1, processing: 2, completed: 3, failed: 3, cancelled: 3 } as const satisfies Record<
  TaskStatus,
  number
>;
/** Above every progress. */
const RANK_STEP = 1_000;
const LAST_NUMBER = RANK.completed * RANK_STEP + 100;

/**
 * A task's states from now on: the present one, unless it was seen already, then each as it comes, up to the terminal one. A
 * reader who is slow gets the latest and misses those between. Early versions of outputs come between
 * the states; one that has not been read when a later one comes, or the end is read, is lost.
 *
 * Numbers come from the task itself: a status is never left for an earlier one, and progress never goes down.
 *
 * @param query.seen the number of the last state the caller has seen; absent, or one that can be none, for nothing
 * @throws AppError `task_not_found` as `readTask` does, before the first state
 */
export async function* watchTask(
  deps: WatchTaskDeps,
  principal: Principal,
  query: { readonly id: string; readonly seen?: number | undefined; readonly signal: AbortSignal },
): AsyncGenerator<TaskEvent, void, undefined> {
  const { id } = await readTask(deps, principal, query.id);
  let seen = query.seen !== undefined && query.seen <= LAST_NUMBER ? query.seen : 0;
  const previews = openLatestPreview(deps.previews, id);
  try {
    while (!query.signal.aborted) {
      const change = nextChange(deps, id, query.signal);
      try {
        const task = await readTask(deps, principal, id);
        const number = numberOf(task);
        if (number > seen) {
          seen = number;
          yield { kind: "state", number, task: await withQueuePosition(deps, task) };
        }
        if (isTerminal(task.status)) return;
        const preview = previews.take();
        if (preview !== undefined) yield { kind: "preview", preview };
        await Promise.race([change.within(LOOK_AGAIN_MS), previews.arrival()]);
      } finally {
        change.stop();
      }
    }
  } finally {
    previews.stop();
  }
}

function numberOf({ status, progress }: TaskSummary): number {
  return RANK[status] * RANK_STEP + progress;
}

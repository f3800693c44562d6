import type { Principal } from "../domain/access/account.ts";
import type { PreviewFeed } from "../domain/ports/runtime.ts";
import type { Preview } from "../domain/task/preview.ts";
import { isTerminal, type TaskStatus, type TaskSummary } from "../domain/task/task.ts";
import { openLatestPreview } from "./latest-preview.ts";
import { nextChange, type ReadTaskDeps, readTask, type TaskReading, withQueuePosition } from "./read-task.ts";
import { LOOK_AGAIN_MS } from "./task-changes.ts";

export interface WatchTaskDeps extends ReadTaskDeps {
  readonly previews: PreviewFeed;
}

/** An event of a task: a new state, or a preview of an output. */
export type TaskEvent =
  /** `number` grows with each state, and is the same whenever that state is read. */
  | { readonly kind: "state"; readonly number: number; readonly task: TaskReading }
  | { readonly kind: "preview"; readonly preview: Preview };

const RANK = { pending: 1, processing: 2, completed: 3, failed: 3, cancelled: 3 } as const satisfies Record<
  TaskStatus,
  number
>;
/** Greater than any progress. */
const RANK_STEP = 1_000;
/** Also greater than any progress, and smaller than `RANK_STEP` by more than any progress. */
const CANCEL_STEP = 500;
const LAST_NUMBER = RANK.completed * RANK_STEP + 100;

/**
 * Yields the task's present state, unless the caller has seen it, then every later one up to the terminal state. A slow reader gets
 * the latest state and misses those in between. Previews come between the states; a later preview or the end replaces one that was
 * not read.
 *
 * Numbers follow from the task itself: a task never returns to an earlier status, a request to cancel is never taken back, and
 * progress never decreases.
 * @param query.seen the number of the last state that the caller has seen; none if it is absent or impossible
 * @throws AppError `task_not_found` like `readTask`, before the first state
 */
export async function* watchTask(
  deps: WatchTaskDeps,
  principal: Pick<Principal, "accountId">,
  query: { readonly id: string; readonly seen?: number | undefined; readonly signal: AbortSignal },
): AsyncGenerator<TaskEvent, void, undefined> {
  const { id } = await readTask(deps, principal, query.id);
  let seen = query.seen !== undefined && query.seen <= LAST_NUMBER ? query.seen : 0;
  const previews = openLatestPreview(deps.previews, id);
  try {
    while (!query.signal.aborted) {
      const change = nextChange(deps, id);
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
        await Promise.race([change.within(LOOK_AGAIN_MS, query.signal), previews.arrival()]);
      } finally {
        change.stop();
      }
    }
  } finally {
    previews.stop();
  }
}

function numberOf({ status, progress, cancelRequested }: TaskSummary): number {
  const isToCancel = cancelRequested && !isTerminal(status);
  return RANK[status] * RANK_STEP + (isToCancel ? CANCEL_STEP : 0) + progress;
}

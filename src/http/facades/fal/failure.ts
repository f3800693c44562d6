import { AppError } from "../../../domain/errors.ts";
import type { TaskId } from "../../../domain/ids.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { TaskSummary } from "../../../domain/task/task.ts";
import { endedWithoutImages } from "../../../service/sync-errors.ts";

/** The error of a task that was cancelled because it had not started in the time that its caller gave it. */
function startTooLate(id: TaskId): AppError {
  return new AppError(
    "upstream_timeout",
    { kind: "start_too_late", task: id },
    { taskId: id, shouldRetry: false },
  );
}

/** Why a task that has ended has no result. */
export async function failureOf(
  { tasks }: { readonly tasks: Pick<TaskStore, "requestOf"> },
  task: TaskSummary,
): Promise<AppError> {
  const { error, startedAt, completedAt = 0 } = task;
  if (error === undefined && startedAt === undefined) {
    const { cancelAt, cancelsUnstarted } = (await tasks.requestOf(task)) ?? {};
    // A caller that cancels it does so before.
    if (cancelsUnstarted && cancelAt !== undefined && completedAt >= cancelAt) return startTooLate(task.id);
  }
  return endedWithoutImages(task);
}

/** What a run is told that its wait ended with `error`: of a task that was cancelled, whether that was because it had not started in time. */
export async function endOf(
  { tasks }: { readonly tasks: Pick<TaskStore, "requestOf" | "summary"> },
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof AppError) || error.facts.kind !== "task_cancelled") return error;
  const task = await tasks.summary(error.facts.task);
  return task === undefined ? error : failureOf({ tasks }, task);
}

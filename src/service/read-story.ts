import type { Principal } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import { isId } from "../domain/ids.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { type StageSpan, type TaskStory, timelineOf } from "../domain/task/story.ts";

export interface ReadStoryDeps {
  readonly tasks: Pick<TaskStore, "story" | "queuePosition">;
  readonly clock: Pick<Clock, "now">;
}

/** A task's story as it stands now. */
export interface StoryReading extends TaskStory {
  readonly timeline: readonly StageSpan[];
  /** See TaskReading.queuePosition. */
  readonly queuePosition?: number | undefined;
}

/**
 * Reads everything that is stored about a task of the caller's account.
 * @throws AppError `task_not_found`, the same for a malformed id, an unknown task and another account's task
 */
export async function readStory(
  deps: ReadStoryDeps,
  { accountId }: Pick<Principal, "accountId">,
  id: string,
): Promise<StoryReading> {
  const story = await findStory(deps, id);
  if (story?.task.accountId === accountId) return story;
  throw new AppError("task_not_found", { kind: "task_unknown" });
}

/** Reads everything that is stored about a task of any account; undefined for a malformed or an unknown id. */
export async function findStory(deps: ReadStoryDeps, id: string): Promise<StoryReading | undefined> {
  const story = isId("task", id) ? await deps.tasks.story(id) : undefined;
  if (story === undefined) return undefined;
  const { task } = story;
  const queuePosition = task.status === "pending" ? await deps.tasks.queuePosition(task.id) : undefined;
  return { ...story, timeline: timelineOf(story, deps.clock.now()), queuePosition };
}

import type { Principal } from "../domain/access/account.ts";
import type { AttemptId } from "../domain/ids.ts";
import type { Asset } from "../domain/media/asset.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { type Phases, phasesOf } from "../domain/task/trace.ts";
import { findStory, type ReadStoryDeps, readStory, type StoryReading } from "./read-story.ts";

export interface ReadTraceDeps extends ReadStoryDeps {
  readonly tasks: Pick<TaskStore, "story" | "queuePosition" | "assetById">;
}

/** A task's story with its files and the times of its attempts. */
export interface TraceReading extends StoryReading {
  /** The files of its result. */
  readonly outputs: readonly Asset[];
  /** Of each attempt. */
  readonly phases: ReadonlyMap<AttemptId, Phases>;
}

/** The trace of a task of the caller's account. @throws AppError like `readStory` */
export async function readTrace(
  deps: ReadTraceDeps,
  principal: Pick<Principal, "accountId">,
  id: string,
): Promise<TraceReading> {
  return traceOf(deps, await readStory(deps, principal, id));
}

/** The trace of a task of any account; undefined for a malformed or an unknown id. */
export async function findTrace(deps: ReadTraceDeps, id: string): Promise<TraceReading | undefined> {
  const story = await findStory(deps, id);
  return story && traceOf(deps, story);
}

async function traceOf({ tasks, clock }: ReadTraceDeps, story: StoryReading): Promise<TraceReading> {
  const { task, attempts } = story;
  const outputs = await Promise.all(task.results.map(({ assetId }) => tasks.assetById(assetId)));
  const now = clock.now();
  return {
    ...story,
    outputs: outputs.filter((asset) => asset !== undefined),
    phases: new Map(attempts.map((attempt) => [attempt.id, phasesOf(story, attempt, now)])),
  };
}

import type { JsonObject } from "../../../domain/json.ts";
import type { ManagedTask } from "../../../domain/ports/task-store.ts";
import type { StoryReading } from "../../../service/read-story.ts";
import { presentListedTask } from "../../tasks/present.ts";
import { presentAttempt, presentStory } from "../../tasks/story/present.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}
const named = ({ id, name }: Named): JsonObject => ({ id, name });

/** A task of a listing of all accounts. */
export function presentManagedTask(
  { account, key, provider, ...task }: ManagedTask,
  origin: string,
): JsonObject {
  return { ...presentListedTask(task, origin), account: named(account), key: named(key), provider };
}

/** A task's story with its routes, and what was noted of its attempts for the operator. */
export function presentManagedStory(story: StoryReading, origin: string): JsonObject {
  const { task, account, attempts } = story;
  return {
    ...presentStory(story, origin),
    account: named(account),
    provider: task.lane,
    attempts: attempts.map((attempt) => ({
      ...presentAttempt(task, attempt),
      route: { provider: attempt.lane, upstream_model: attempt.upstreamModel },
      detail: attempt.detail,
    })),
  };
}

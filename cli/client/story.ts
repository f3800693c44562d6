import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type TaskView, taskOf } from "./answer.ts";
import { objectsOf } from "./lenient.ts";

/** A stage of a task, as the server tells it. */
export interface StageView {
  readonly stage: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Absent for the end. */
  readonly durationMs: number | undefined;
}

/** Everything about a task: what is always there, and any other fields as the server writes them. */
export type StoryView = TaskView & {
  readonly request: JsonObject;
  readonly attempts: readonly JsonObject[];
  readonly callbacks: readonly JsonObject[];
  readonly charge: readonly JsonObject[];
};

/** Reads a story; what it lacks is empty. @throws Failure for what is no task */
export function storyOf(data: JsonObject): StoryView {
  const { request, attempts, callbacks, charge } = data;
  return {
    ...taskOf(data),
    request: isJsonObject(request) ? request : {},
    attempts: objectsOf(attempts),
    callbacks: objectsOf(callbacks),
    charge: objectsOf(charge),
  };
}

/** The stages of a story, in order; those that cannot be read are left out. */
export function stagesOf({ timeline }: TaskView): StageView[] {
  return objectsOf(timeline).flatMap(({ stage, at, duration_ms: durationMs }) => {
    const begun = typeof at === "string" ? Date.parse(at) : Number.NaN;
    if (typeof stage !== "string" || Number.isNaN(begun)) return [];
    return [{ stage, at: begun, durationMs: typeof durationMs === "number" ? durationMs : undefined }];
  });
}

import { isJsonObject } from "../../../src/domain/json.ts";
import { issuesOf, type TaskView } from "../../client/answer.ts";
import { formatTime } from "../../format/units.ts";

/** The status, and what else decides whether to wait on. */
export function statusOf(task: TaskView): string {
  if (task.cancel_requested === true) return `${task.status}, cancel requested`;
  const missing = issuesOf(task).length;
  return missing === 0 ? task.status : `${task.status}, ${missing} missing`;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Formats epoch seconds. */
export function timeOf(value: unknown): string | undefined {
  return typeof value === "number" ? formatTime(value * 1000) : undefined;
}

export function progressOf({ progress }: TaskView): string | undefined {
  return typeof progress === "number" ? `${progress} %` : undefined;
}

/** The name of an account or a key. */
export function nameIn(owner: unknown): string {
  return (isJsonObject(owner) ? textOf(owner.name) : undefined) ?? "";
}

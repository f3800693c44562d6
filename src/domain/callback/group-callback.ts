import { callbackIdOf, type TaskId } from "../ids.ts";
import { groupIdOf } from "../task/group.ts";
import type { Task } from "../task/task.ts";
import { type Callback, GROUP_ENDED, GROUP_FORM } from "./callback.ts";
import { newCallback } from "./new-callback.ts";

/** What the end of a group's last task writes in addition. Only the store can tell which task is the last. */
export interface GroupEnd {
  /** The other tasks of the group. While one of them is live, nothing is written. */
  readonly others: readonly TaskId[];
  readonly callback: Callback;
}

/** The callback that a task's end writes for its group if it is the group's last; undefined if the group has no address. */
export function groupEndOf(task: Task, at: number): GroupEnd | undefined {
  const { group } = task.request;
  const [first] = group?.tasks ?? [];
  if (group?.callbackUrl === undefined || first === undefined) return undefined;
  const id = callbackIdOf(groupIdOf(first));
  const told = { id, url: group.callbackUrl, event: GROUP_ENDED, form: GROUP_FORM } as const;
  return { others: group.tasks.filter((each) => each !== task.id), callback: newCallback(task, told, at) };
}

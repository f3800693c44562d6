import type { GroupId, TaskId } from "../ids.ts";
import type { GroupPolicy } from "./group-terms.ts";
import type { TaskKind } from "./request.ts";
import type { TaskStatus, TaskSummary } from "./task.ts";
import { isTerminal } from "./task.ts";

/** One task of a group: what is known about it, or nothing after it was deleted. */
export interface GroupMember {
  readonly id: TaskId;
  readonly task: TaskSummary | undefined;
}

/** The id of the group that begins with this task. */
export const groupIdOf = (first: TaskId): GroupId => first.replace(/^task/, "grp") as GroupId;
/** The first task of a group. */
export const firstTaskOf = (id: GroupId): TaskId => id.replace(/^grp/, "task") as TaskId;

/** `processing` until every task has ended; then `completed` if any has a result, else `failed` if any failed. */
export function groupStatus(members: readonly GroupMember[]): Exclude<TaskStatus, "pending"> {
  const has = (status: TaskStatus) => members.some(({ task }) => task?.status === status);
  if (members.some(({ task }) => task !== undefined && !isTerminal(task.status))) return "processing";
  return has("completed") ? "completed" : has("failed") ? "failed" : "cancelled";
}

/**
 * The task that a policy chooses among the completed ones: the earliest to complete, the one that was charged least, or the one
 * that took the shortest from its start. If two are equal, the earlier one in the group wins. `cheapest` and `fastest` are
 * known only after all have ended.
 */
export function winnerOf(policy: GroupPolicy, members: readonly GroupMember[]): TaskId | undefined {
  if (policy === "all" || (policy !== "first" && groupStatus(members) === "processing")) return undefined;
  const [first, ...others] = members.flatMap(({ task }) => (task?.status === "completed" ? [task] : []));
  if (first === undefined) return undefined;
  const measure = MEASURES[policy];
  return others.reduce((best, each) => (measure(each) < measure(best) ? each : best), first).id;
}

const MEASURES: Readonly<Record<Exclude<GroupPolicy, "all">, (task: TaskSummary) => number>> = {
  first: ({ completedAt = 0 }) => completedAt,
  cheapest: ({ charged = 0 }) => charged,
  fastest: ({ completedAt = 0, startedAt, createdAt }) => completedAt - (startedAt ?? createdAt),
};

/** The feature that a task of this kind needs. */
export const featureOf = (kind: TaskKind) => `${kind}s` as const;

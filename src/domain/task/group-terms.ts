import type { AccountId, TaskId } from "../ids.ts";

/** What happens to a group's tasks when one completes, and which of them wins. */
export const GROUP_POLICIES = ["all", "first", "cheapest", "fastest"] as const;
export type GroupPolicy = (typeof GROUP_POLICIES)[number];

/** Most tasks of a group. */
export const MAX_GROUP_TASKS = 16;

/** What each task knows about its group. Stored with the task's request, so a group is as durable as its tasks. */
export interface GroupTerms {
  readonly policy: GroupPolicy;
  /** All of its tasks in their order, this one included. */
  readonly tasks: readonly TaskId[];
  /** The address that is called after all of them have ended. */
  readonly callbackUrl?: string | undefined;
}

/** The tasks of a group in which the first to complete ends the others. */
export interface Race {
  readonly accountId: AccountId;
  readonly tasks: readonly TaskId[];
}

import type { AccountId, TaskId } from "../ids.ts";
import type { TaskSummary } from "../task/task.ts";

/** How the groups of an account are found. */
export interface GroupReads {
  /**
   * The tasks that an account's groups begin with and that are not removed, the newest first. Costs as much as it returns.
   * @param query.after the last one of the page before
   */
  groups(
    owner: AccountId,
    query: { readonly limit: number; readonly after?: TaskId | undefined },
  ): Promise<TaskSummary[]>;
}

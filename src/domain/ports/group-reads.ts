import type { AccountId, TaskId } from "../ids.ts";
import type { TaskSummary } from "../task/task.ts";

/** How the groups of an account are found. */
export interface GroupReads {
  /**
   * The first tasks of an account's groups, without removed ones, newest first. The cost grows only with the size of the
   * answer.
   * @param query.after the last task of the previous page
   */
  groups(
    owner: AccountId,
    query: { readonly limit: number; readonly after?: TaskId | undefined },
  ): Promise<TaskSummary[]>;
}

import type { TaskId } from "../ids.ts";
import type { Parent } from "./lineage.ts";
import type { TaskSummary } from "./task.ts";

/** A task in its family. */
export type FamilyNode =
  | { readonly kind: "task"; readonly task: TaskSummary }
  /** The task was removed. Only its id and its parent are known; for tasks removed long ago, only the id. */
  | { readonly kind: "removed"; readonly id: TaskId; readonly parent?: Parent | undefined };

/** Part of a family, oldest first. */
export interface FamilyPage {
  readonly nodes: readonly FamilyNode[];
  /** The task after which the next page begins; absent on the last one. */
  readonly next?: TaskId | undefined;
}

import type { TaskId } from "../ids.ts";
import type { Parent } from "./lineage.ts";
import type { TaskSummary } from "./task.ts";

/** A task in its family. */
export type FamilyNode =
  | { readonly kind: "task"; readonly task: TaskSummary }
  /** It was removed: its id and what it was made from are all that is known, and of long ago its id alone. */
  | { readonly kind: "removed"; readonly id: TaskId; readonly parent?: Parent | undefined };

/** Some of a family, the oldest first. */
export interface FamilyPage {
  readonly nodes: readonly FamilyNode[];
  /** The task after which the next page begins; absent on the last one. */
  readonly next?: TaskId | undefined;
}

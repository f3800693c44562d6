import type { TaskId } from "../../../domain/ids.ts";
import type { Parent, Relation } from "../../../domain/task/lineage.ts";

/** What a task was made from, from its columns. */
export function parentOf(row: {
  readonly parent: TaskId | null;
  readonly relation: Relation | null;
}): Parent | undefined {
  const { parent, relation } = row;
  return parent === null || relation === null ? undefined : { id: parent, relation };
}

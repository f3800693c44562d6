import type { TaskId } from "../ids.ts";

/** How a task came from another one. */
export const RELATIONS = ["retry", "remix", "variation", "extend", "upscale"] as const;
export type Relation = (typeof RELATIONS)[number];

/** The task that another one was made from, of the same account. It may be removed since. */
export interface Parent {
  readonly id: TaskId;
  readonly relation: Relation;
}

import type { TaskId } from "../ids.ts";

/** How a task was derived from another one. */
export const RELATIONS = ["retry", "remix", "variation", "extend", "upscale"] as const;
export type Relation = (typeof RELATIONS)[number];

/** The task of the same account from which another one was made. It may have been removed since. */
export interface Parent {
  readonly id: TaskId;
  readonly relation: Relation;
}

import type { Task } from "../task/task.ts";

/** What is needed to let the creator of a task wait for it again. */
export type OrphanedTask = Pick<Task, "id" | "accountId" | "keyId" | "createdAt"> & {
  readonly syncScope: string;
};

/** A task that is to be cancelled at a time; see GenerationRequest.cancelAt. */
export type TimedCancel = Pick<Task, "id" | "accountId"> & { readonly cancelAt: number };

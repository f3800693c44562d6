import type { GenerationRequest } from "../task/request.ts";
import type { Task } from "../task/task.ts";

/** The facts with which the creator of a task can wait for it again. */
export type OrphanedTask = Pick<Task, "id" | "accountId" | "keyId" | "createdAt"> & {
  readonly syncScope: string;
};

/**
 * A task that must be cancelled at a given time; see GenerationRequest.cancelAt. One whose cancel was requested is none any more, nor
 * is one that has started where that is enough.
 */
export type TimedCancel = Pick<Task, "id" | "accountId"> &
  Pick<GenerationRequest, "cancelsUnstarted"> & { readonly cancelAt: number };

import type { Admission, AdmitResult } from "./task-store.ts";

/**
 * Tells the scheduler of this process that something may be due now. If a call is lost, the work is delayed but no task is
 * lost.
 */
export interface Wakeup {
  /** Anything may be due. */
  wake(): void;
  /** Called when a task is queued in this turn of the event loop. Does nothing while there is no room for it. */
  queued(): void;
  /** Stores a task as `TaskStore.admit` does. Begins it with its admission where that is possible; otherwise it is queued. */
  admit(admission: Admission): Promise<AdmitResult>;
}

import type { Callback, Delivery } from "../callback.ts";
import type { CallbackId } from "../ids.ts";

/** Callbacks due for delivery. They are written by `TaskStore.apply`, with the end of their task. */
export interface CallbackStore {
  /**
   * Takes callbacks that are due, counting one attempt for each before it is sent; a taken callback is due again at
   * `now + leaseMs`, or dead if that was its last attempt and no outcome is recorded by then.
   */
  claim(query: { now: number; leaseMs: number; limit: number }): Promise<Callback[]>;
  /** Records how a send went. `retryAt` absent: delivered or given up. */
  record(id: CallbackId, attempt: number, delivery: Delivery, at: number, retryAt?: number): Promise<void>;
  /** When the next callback is due; undefined when none is waiting. */
  nextDueAt(): Promise<number | undefined>;
  byId(id: CallbackId): Promise<Callback | undefined>;
}

import type { AccountId, KeyId, ModelId } from "../ids.ts";
import type { Micros } from "../money.ts";
import type { UsageDay } from "../usage.ts";

/** How long one completed task took. */
export interface TaskDuration {
  readonly model: ModelId;
  /** From its first submission to its end; what it waited in the queue is not in it. */
  readonly durationMs: number;
}

/** What tasks came to. Written by `TaskStore` in the transaction that ends a task; only read here. */
export interface UsageStore {
  /** One entry for each day from `from` to `to`, both included, on which tasks of the account ended; oldest first. */
  days(account: AccountId, from: number, to: number): Promise<UsageDay[]>;
  /** All that was ever charged for tasks of one key. */
  chargedTo(account: AccountId, key: KeyId): Promise<Micros>;
  /** Tasks of one key that have not ended, counted no further than `atMost`. */
  liveTasks(account: AccountId, key: KeyId, atMost: number): Promise<number>;
  /** The completed among the tasks that were begun last, of all models and accounts; at most `limit` are looked at. */
  recentDurations(limit: number): Promise<TaskDuration[]>;
}

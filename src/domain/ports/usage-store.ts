import type { AccountId, KeyId, ModelId } from "../ids.ts";
import type { Micros } from "../money/money.ts";
import type { UsageDay, UsageTotal } from "../money/usage.ts";

/** How long one completed task took. */
export interface TaskDuration {
  readonly model: ModelId;
  /** From its first submission to its end; what it waited in the queue is not in it. */
  readonly durationMs: number;
}

/** Which tasks to sum up, and by what. */
export interface UsageQuery {
  /** All accounts' unless given. */
  readonly accountId?: AccountId | undefined;
  /** First and last day, counted from 1970-01-01 UTC; both included. */
  readonly from: number;
  readonly to: number;
  readonly by: "key" | "model" | "day";
}

/** What the tasks of one key, model or day came to. */
export interface UsageLine extends UsageTotal {
  readonly accountId?: AccountId | undefined;
  readonly keyId?: KeyId | undefined;
  readonly model?: ModelId | undefined;
  readonly day?: number | undefined;
  /** What upstreams charged the operator for them; absent where nothing is known of any of them. */
  readonly cost?: Micros | undefined;
  /** What was charged for the tasks whose cost is known: less `cost`, the margin. */
  readonly chargedAtCost?: Micros | undefined;
}

/** What tasks came to. Written by `TaskStore` in the transaction that ends a task; only read here. */
export interface UsageStore {
  /** One entry for each day from `from` to `to`, both included, on which tasks of the account ended; oldest first. */
  days(account: AccountId, from: number, to: number): Promise<UsageDay[]>;
  /** All that was ever charged for tasks of one key. */
  chargedTo(account: AccountId, key: KeyId): Promise<Micros>;
  /**
   * Tasks that ended within the days asked for: one line for each key (with its account), model or day that had any, in the order
   * of their ids, names or dates. Reads every attempt whose cost is known.
   */
  report(query: UsageQuery): Promise<UsageLine[]>;
  /** Tasks of one key that have not ended, counted no further than `atMost`. */
  liveTasks(account: AccountId, key: KeyId, atMost: number): Promise<number>;
  /** The completed among the tasks that were begun last, of all models and accounts; at most `limit` are looked at. */
  recentDurations(limit: number): Promise<TaskDuration[]>;
}

import type { AccountId, KeyId, LaneId, ModelId } from "../ids.ts";
import type { Micros, MicrosSum } from "../money/money.ts";
import type { UsageDay, UsageSplit, UsageTotal } from "../money/usage.ts";

/** The duration of one completed task. */
export interface TaskDuration {
  readonly model: ModelId;
  /** From its first submission to its end, without the time in the queue. */
  readonly durationMs: number;
}

/** Selects the tasks to sum up, and how to group them. */
export interface UsageQuery extends UsageSplit {
  /** All accounts unless given. */
  readonly accountId?: AccountId | undefined;
  /** First and last day, counted from 1970-01-01 UTC; both included. */
  readonly from: number;
  readonly to: number;
  /** Leaves out the costs of upstreams, which would mean reading attempts. */
  readonly isWithoutCosts?: boolean | undefined;
}

/** The totals of one key, model, day, account or provider, or of two of them. */
export interface UsageLine extends UsageTotal {
  readonly accountId?: AccountId | undefined;
  readonly keyId?: KeyId | undefined;
  readonly model?: ModelId | undefined;
  readonly day?: number | undefined;
  /** The lane of the account that had the task last. */
  readonly provider?: LaneId | undefined;
  /** Submissions that got no answer and were repeated; see `OnUnknown`. Absent: none. */
  readonly resubmitted?: number | undefined;
  /** What upstreams charged the operator for them; absent if no cost is known. */
  readonly cost?: MicrosSum | undefined;
  /** What was charged for the tasks whose cost is known. The margin is this minus `cost`. */
  readonly chargedAtCost?: MicrosSum | undefined;
}

/** What upstreams charged the operator for the attempts at one account under one name of a model, as far as this is known. */
export interface RouteSpend {
  readonly lane: LaneId;
  readonly upstreamModel: string;
  readonly cost: Micros;
}

/** Reads usage. `TaskStore` writes it in the transaction that ends a task. */
export interface UsageStore {
  /** One entry for each day from `from` to `to`, both included, on which tasks of the account ended; oldest first. */
  days(account: AccountId, from: number, to: number): Promise<UsageDay[]>;
  /** The sum of all charges for one key's tasks. */
  chargedTo(account: AccountId, key: KeyId): Promise<MicrosSum>;
  /** What was charged for the tasks of each of some keys that ended on a day or later, in their order. */
  chargedSince(
    keys: readonly { readonly id: KeyId; readonly accountId: AccountId }[],
    day: number,
  ): Promise<readonly MicrosSum[]>;
  /**
   * Sums up the tasks that ended in a range of days, with one line for each key (with its account), model, day, account or
   * provider that had any, or for each pair of two of them, ordered by id, name or date. Costs and providers are read from
   * tasks and attempts, of which a server keeps what those come to that change no more. By provider, a removed task counts as
   * completed if it had results, and as failed if not.
   *
   * @returns one more than `MOST_USAGE_LINES` at most
   */
  report(query: UsageQuery): Promise<UsageLine[]>;
  /**
   * One entry for each way that attempts took which ended at that time or later and whose cost is known. Reads all of these
   * attempts in batches. Attempts that end meanwhile may or may not count.
   */
  spentSince(time: number): Promise<RouteSpend[]>;
  /** How many tasks of one key have not ended; stops counting at `atMost`. */
  liveTasks(account: AccountId, key: KeyId, atMost: number): Promise<number>;
  /** Durations of the completed tasks among the most recently begun ones of all models and accounts. Reads at most `limit`. */
  recentDurations(limit: number): Promise<TaskDuration[]>;
}

import type { Account, ApiKey } from "../access/account.ts";
import type { Act } from "../access/actor.ts";
import type { AtHand } from "../at-hand.ts";
import type { AccountId, AssetId, AttemptId, KeyId, LaneId, ModelId, TaskId } from "../ids.ts";
import type { Asset } from "../media/asset.ts";
import type { Micros } from "../money/money.ts";
import type { LaneCount, LaneLoad, OwnReady, RecentEndings } from "../overview.ts";
import type { FamilyPage } from "../task/family.ts";
import type { Race } from "../task/group-terms.ts";
import type { IdempotencyClaim } from "../task/idempotency.ts";
import type { LostAttempt, LostEnd } from "../task/lost-attempt.ts";
import type { GenerationRequest, TaskKind } from "../task/request.ts";
import type { TaskStory } from "../task/story.ts";
import type { Attempt, Lease, NewTask, Task, TaskStatus, TaskSummary } from "../task/task.ts";
import type { Transition } from "../task/transition.ts";
import type { AttemptIntent, Claimed, ClaimQuery, Hastening, Postponing, Start } from "./claims.ts";
import type { GroupReads } from "./group-reads.ts";
import type { OrphanedTask, TimedCancel } from "./left-tasks.ts";

export interface Admission {
  /** Stored `queued`, `pending` and due at once, unless it is begun. */
  readonly task: NewTask;
  /** How the task begins at once, if the store does that, and `claim` would take it next. */
  readonly start?: Start | undefined;
  /** The inputs that the create has stored. */
  readonly assets: readonly Asset[];
  readonly idempotency?: IdempotencyClaim | undefined;
  /** Most live tasks of the key, including this one. */
  readonly concurrency?: number | undefined;
  /**
   * What the key may spend in a period. First the hold counts, later the charge. The key must be stored; if its stored policy has
   * changed, that one applies.
   */
  readonly quota?: { readonly limit: Micros; readonly period: number } | undefined;
}

/** An accepted create, kept to replay its answer. */
export interface Replay {
  readonly taskId: TaskId;
  readonly held: Micros;
}

export type AdmitResult =
  /** `isLow`: the account's balance has fallen below the level that its operator set. `isBegun`: leased and begun as `start` says. */
  | { readonly kind: "admitted"; readonly isLow: boolean; readonly isBegun?: true }
  | ({ readonly kind: "replayed" } & Replay)
  /** The idempotency key was used for another body. */
  | { readonly kind: "conflict" }
  /** Reports whichever limit leaves less; the balance when they are equal. */
  | {
      readonly kind: "insufficient_quota";
      readonly limitedBy: "balance" | "key_quota";
      readonly available: Micros;
      readonly needed: Micros;
    }
  /** The key already has as many live tasks as it may have. */
  | { readonly kind: "too_many_tasks" };

/** Either all tasks in their order, each `admitted` or each `replayed`; or the first refusal, and no task is stored. */
export type AdmitAllResult =
  | { readonly kind: "accepted"; readonly results: readonly AdmitResult[] }
  | { readonly kind: "refused"; readonly place: number; readonly result: AdmitResult };

export interface TaskFilter {
  readonly accountId: AccountId;
  readonly kind?: TaskKind | undefined;
  readonly status?: TaskStatus | undefined;
  readonly model?: ModelId | undefined;
  /** ≥ 1. */
  readonly limit: number;
  /** Tasks listed after this one: older ones, unless the oldest come first. */
  readonly after?: TaskId | undefined;
}

/** Whether a listing begins with the newest or the oldest tasks. */
export type ListOrder = "newest" | "oldest";

/** Selects tasks of a filter whose prompts contain the words of a text (`searchPhrases`). */
export interface TaskSearch extends TaskFilter {
  readonly text: string;
}

/** One page of search results, newest first. It can be short, even empty, without being the last. */
export interface FoundTasks {
  readonly tasks: readonly TaskSummary[];
  /** The task after which the next page begins; absent on the last one. */
  readonly next?: TaskId | undefined;
}

/** A task as an operator lists it. */
export interface ManagedTask extends TaskSummary {
  readonly account: Pick<Account, "id" | "name">;
  /** The key that created it. */
  readonly key: Pick<ApiKey, "id" | "name">;
  /** The account that has the task, had it last, or gets it next. */
  readonly provider: LaneId;
}

export interface ManagedTaskFilter extends Omit<TaskFilter, "accountId"> {
  /** All accounts unless given. */
  readonly accountId?: AccountId | undefined;
  /** As in a `TaskSearch`; any prompt unless given. */
  readonly text?: string | undefined;
}

/** One page of tasks, newest first. */
export interface ManagedPage {
  readonly tasks: readonly ManagedTask[];
  /** The task after which the next page begins; absent on the last one. */
  readonly next?: TaskId | undefined;
}

/** Selects the tasks of an account that have changed. */
export interface ChangeQuery {
  readonly accountId: AccountId;
  /** Selects changes with higher numbers, ≥ 0. */
  readonly after: number;
  /** ≥ 1. */
  readonly limit: number;
}

/** The present state of a task, and the number of its latest change of status or progress. */
export interface TaskChange {
  readonly number: number;
  /** The key that created it. */
  readonly keyId: KeyId;
  readonly task: TaskSummary;
}

/** The present state of a task of any account, and the number of its latest change of status or progress. */
export interface ManagedChange {
  readonly number: number;
  readonly task: ManagedTask;
}

/** Live tasks by stage. */
export interface TaskCounts {
  readonly queued: number;
  readonly underWay: number;
}

/** An account's live tasks by their status. */
export interface LiveCounts {
  readonly pending: number;
  readonly processing: number;
}

/** The highest queue position that is reported. A position further back is reported as this one. */
export const MAX_QUEUE_POSITION = 1_000;

/** Tasks, attempts, holds and assets. Every method is one transaction, durable before it resolves; `StorageError`: nothing was written. */
export interface TaskStore extends GroupReads, Postponing, Hastening {
  /**
   * Accepts a task: holds its price and stores task, assets and idempotency record, or does nothing. A prepaid account needs `balance -
   * held + creditLimit ≥ task.held`. A key with a quota needs `task.held` left in the quota's period. May begin the task by its `start`.
   */
  admit(admission: Admission): Promise<AdmitResult>;
  /** Accepts several tasks as `admit` does, in their order, or none of them. */
  admitAll(admissions: readonly Admission[]): Promise<AdmitAllResult>;
  /** What `admit` would return for an idempotency key that was used before; undefined if it is unused or its record has expired. */
  findReplay(
    claim: IdempotencyClaim,
    now: number,
  ): Promise<Extract<AdmitResult, { kind: "replayed" | "conflict" }> | undefined>;
  /**
   * Leases due tasks, each with a fresh token. Tasks under way come first, the longest due first. Queued tasks follow, within each
   * lane's capacity. Tasks of one setup start in a row. A row ends when no such task is left or after `LONGEST_ROW_MS`; then the next
   * setup has its turn. Tasks without a setup form one setup together. Within a row accounts take turns, and within an account the
   * oldest task starts first. A lane with room left takes over tasks from siblings without room, and continues its row there. A leased
   * task is due again when its lease expires.
   */
  claim(query: ClaimQuery): Promise<Claimed>;
  /**
   * Writes the attempt (`intent`) and moves the task from `queued` to `submitting`, before any byte is sent. If a cancel was requested,
   * changes nothing and leaves the lease.
   */
  begin(lease: Lease, intent: AttemptIntent): Promise<"begun" | "cancel_requested" | "lease_lost">;
  /** Moves the lease's end. */
  renew(lease: Lease, until: number): Promise<"renewed" | "lease_lost">;
  /**
   * Applies one transition: a compare-and-set on id, lease token and stage, then ledger, assets, attempt and callback. If a cancel was
   * requested meanwhile, a queued task that returns to the queue is due at once. So is a running task whose last poll was answered,
   * once, to cancel it at its upstream. Every other task keeps its due time.
   */
  apply(lease: Lease, transition: Transition): Promise<"applied" | "lease_lost">;
  /**
   * Releases every lease. Queued tasks are due now, others after `RESUME_DELAY_MS`, and the request they were making counts as one
   * failure. Called when the only process on this store starts. @returns how many there were
   */
  rescue(now: number): Promise<number>;
  /**
   * Requests a cancel. A queued task without a lease is cancelled at once, and its hold is released. If it has an open attempt, it is
   * due at once instead. Only the first request makes a running task due, if its last poll was answered. `act`: for the trail.
   */
  requestCancel(
    id: TaskId,
    owner: AccountId,
    now: number,
    act?: Act,
  ): Promise<"cancelled" | "requested" | "already_final" | "not_found">;
  /**
   * Makes the running task of an attempt due at `at` if it would be due later. Changes nothing else. `leased`: a worker holds it now.
   * `idle`: the attempt is over, or the last answer of its upstream was an error, after which the poll is not moved forward.
   */
  nudge(id: AttemptId, at: number): Promise<"nudged" | "leased" | "idle">;
  /** Lets an idempotency key be used again, if it still refers to this task. */
  freeIdempotency(use: Pick<IdempotencyClaim, "keyId" | "endpoint" | "key">, id: TaskId): Promise<void>;
  /** Removes idempotency records that expired before `now`. @returns how many, at most `limit` */
  expireIdempotency(now: number, limit: number): Promise<number>;

  /** Settles an attempt from `lostAttempts`. An attempt that is settled already stays as it is. */
  settleLost(id: AttemptId, end: LostEnd): Promise<void>;

  // Reads.
  /** Lost attempts of some lanes that ended since a time, the newest first. If there are many, only the newest. */
  lostAttempts(lanes: readonly LaneId[], since: number): Promise<LostAttempt[]>;
  byId(id: TaskId): Promise<Task | undefined>;
  summary(id: TaskId): Promise<TaskSummary | undefined>;
  /** A task's request, which its summary leaves out; undefined once it is removed. */
  requestOf(task: Pick<TaskSummary, "id" | "kind" | "model">): Promise<GenerationRequest | undefined>;
  attempts(id: TaskId): Promise<Attempt[]>;
  attempt(id: AttemptId): Promise<Attempt | undefined>;
  /** Everything that is stored about a task, at one moment. */
  story(id: TaskId): Promise<TaskStory | undefined>;
  /**
   * Part of the family of an account's task: the first task, and all tasks that were made from its results, from theirs, and so on,
   * within the account. A page may contain removed tasks beyond its limit; only the tasks made from them are left.
   *
   * @param query.after `next` of the previous page
   * @returns undefined when the account has no such task
   */
  family(
    id: TaskId,
    owner: AccountId,
    query: { readonly limit: number; readonly after?: TaskId | undefined },
  ): Promise<FamilyPage | undefined>;
  /** The order of the page; newest first unless given. */
  list(filter: TaskFilter, order?: ListOrder): Promise<TaskSummary[]>;
  /** Searches indexed tasks (`SearchStore`). Looks at a bounded number of them, and lets other work run in between. */
  search(filter: TaskSearch): Promise<FoundTasks>;
  /** Tasks of all accounts, newest first. Looks at a bounded number, so a page can be short or empty without being the last. */
  managedTasks(filter: ManagedTaskFilter): Promise<ManagedPage>;
  assetById(id: AssetId): AtHand<Asset | undefined>;
  counts(): Promise<TaskCounts>;
  /** The live tasks of each lane that has any, ordered by the lanes' names. The cost does not depend on the queue's length. */
  lanes(): Promise<LaneLoad[]>;
  /** How many live tasks each lane has, for lanes that have any. The cost grows with the number of queued tasks. */
  laneCounts(): Promise<LaneCount[]>;
  /** How many tasks of the account the lane may start now (at most `most`), and since when the oldest exists. Looks at 32 setups. */
  ownReady(lane: LaneId, accountId: AccountId, most: number): Promise<OwnReady>;
  /** The lanes that queued tasks wait for, in the order of their names. Costs a seek for each. */
  queuedLanes(): Promise<LaneId[]>;
  /**
   * The tasks that completed or failed since a time. If there are many, of a shorter period. @returns undefined if there are too many
   * accounts
   */
  recentEndings(since: number): Promise<RecentEndings | undefined>;
  /**
   * How many tasks of its lane `claim` would start before this one: older ones of its account, those of other accounts whose turns come
   * first, and those of other setups. Assumes that nothing else is queued or delayed, and that each row runs to its end. At most
   * `MAX_QUEUE_POSITION`. 0 also for a task that has a lease.
   *
   * @returns undefined for a task that is not pending
   */
  queuePosition(id: TaskId): Promise<number | undefined>;
  liveCounts(accountId: AccountId): Promise<LiveCounts>;
  /**
   * Tasks by their latest change, oldest change first. Each is listed once, in its present state. Numbers grow in commit order, so a
   * reader that continues after the last number misses no change.
   */
  changes(query: ChangeQuery): Promise<TaskChange[]>;
  /** The number of the latest change of any of the account's tasks; 0 before the first. */
  latestChange(accountId: AccountId): Promise<number>;
  /** Like `changes`, for all accounts. It seeks once for each account and once for each change. */
  managedChanges(query: Omit<ChangeQuery, "accountId">): Promise<ManagedChange[]>;
  /** The number of the latest change of any task; 0 before the first. */
  latestManagedChange(): Promise<number>;
  /** Live tasks that are still to be cancelled at a given time, and that time. Reads the requests of those and of `races` alone. */
  timed(): Promise<TimedCancel[]>;
  /** The group of each live task in a group with the policy `first`. Reads the requests of those and of `timed` alone. */
  races(): Promise<Race[]>;
  /** Live tasks whose creators waited for them, oldest first. */
  orphans(): Promise<OrphanedTask[]>;
}

/**
 * The store cannot be written or read: the disk is full, read-only or damaged, or the bucket of files is not reachable. The operation
 * wrote nothing.
 */
export class StorageError extends Error {
  override readonly name = "StorageError";
  constructor(
    /** `damaged` means that continuing could do harm: the process stops itself. */
    readonly kind: "full" | "read_only" | "busy" | "away" | "damaged" | "closed",
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

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
import type { AttemptIntent, Claimed, ClaimQuery } from "./claims.ts";
import type { GroupReads } from "./group-reads.ts";
import type { OrphanedTask, TimedCancel } from "./left-tasks.ts";

export interface Admission {
  /** Stored `queued`, `pending` and due at once. */
  readonly task: NewTask;
  /** The inputs that the create stored. */
  readonly assets: readonly Asset[];
  readonly idempotency?: IdempotencyClaim | undefined;
  /** Live tasks the key may have, this one included. */
  readonly concurrency?: number | undefined;
  /**
   * What the key may spend in a period. The hold counts, and in the end the charge. The key must be stored; if its stored policy has
   * changed, that one counts.
   */
  readonly quota?: { readonly limit: Micros; readonly period: number } | undefined;
}

/** An accepted create, for its replayed answer. */
export interface Replay {
  readonly taskId: TaskId;
  readonly held: Micros;
}

export type AdmitResult =
  /** `isLow`: the account's balance has fallen below the level that its operator set. */
  | { readonly kind: "admitted"; readonly isLow: boolean }
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

/** All in their order, each `admitted` or each `replayed`; or the first that was refused, where none is stored. */
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
  /** Tasks that come after this one: older ones, unless they are listed the oldest first. */
  readonly after?: TaskId | undefined;
}

/** Which tasks of a listing come first. */
export type ListOrder = "newest" | "oldest";

/** Tasks of a filter whose prompts have the words of a text (`searchPhrases`). */
export interface TaskSearch extends TaskFilter {
  readonly text: string;
}

/** One page of tasks that were found, newest first. It can be short, even empty, and not be the last. */
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
  /** The account that has it, had it, or gets it next. */
  readonly provider: LaneId;
}

export interface ManagedTaskFilter extends Omit<TaskFilter, "accountId"> {
  /** All accounts unless given. */
  readonly accountId?: AccountId | undefined;
  /** As of a `TaskSearch`; any prompt unless given. */
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
  /** Changes with higher numbers, ≥ 0. */
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

/**
 * Tasks, their attempts, holds and assets. Every method is one transaction, durable before its promise resolves. Throws
 * `StorageError` when it cannot be; then nothing of it was written.
 */
export interface TaskStore extends GroupReads {
  /**
   * Accepts a task: holds its price, stores task, assets and idempotency record, or none of them.
   * Prepaid accounts need `balance - held + creditLimit ≥ task.held`, keys with a quota as much left in its period.
   */
  admit(admission: Admission): Promise<AdmitResult>;
  /** Accepts several tasks as `admit` does, one after the other, or none of them. */
  admitAll(admissions: readonly Admission[]): Promise<AdmitAllResult>;
  /** What `admit` would return for a key that was used before; undefined when it was not used, or its record has ended. */
  findReplay(
    claim: IdempotencyClaim,
    now: number,
  ): Promise<Extract<AdmitResult, { kind: "replayed" | "conflict" }> | undefined>;
  /**
   * Leases due tasks, each with a fresh token. Tasks under way come first, oldest due first; then queued ones as far as each lane's
   * capacity allows. Tasks of one setup start in a row, which ends when none is left or after `LONGEST_ROW_MS`; then the next setup has
   * its turn. Tasks without a setup count as of one. Within a row accounts take turns, oldest first within an account. A lane with room
   * left takes tasks over from its siblings that have none, and goes on with its row there. A leased task is due again when its lease
   * expires.
   */
  claim(query: ClaimQuery): Promise<Claimed>;
  /**
   * Writes the attempt (`intent`) and moves the task from `queued` to `submitting`, before any byte leaves. If a cancel was requested,
   * changes nothing and leaves the lease.
   */
  begin(lease: Lease, intent: AttemptIntent): Promise<"begun" | "cancel_requested" | "lease_lost">;
  /** Moves the lease's end. */
  renew(lease: Lease, until: number): Promise<"renewed" | "lease_lost">;
  /**
   * Applies one transition: by a compare-and-set on id, lease token and stage, then ledger, assets, attempt and callback.
   * If a cancel was requested meanwhile, a queued task that is given back is due at once, and so is a running one whose last poll was
   * answered: once, to tell its upstream. Every other task keeps its due time.
   */
  apply(lease: Lease, transition: Transition): Promise<"applied" | "lease_lost">;
  /**
   * Gives back every lease: queued tasks are due now, others after `RESUME_DELAY_MS`, and what they asked counts as failed once. For
   * the start of the only process on this store. @returns how many there were
   */
  rescue(now: number): Promise<number>;
  /**
   * Requests a cancel. A queued task without a lease is cancelled at once, and its hold is released; with an open attempt, it is due at
   * once. Only the first request makes a running task due, if its last poll was answered. `act` is an operator's, for the trail.
   */
  requestCancel(
    id: TaskId,
    owner: AccountId,
    now: number,
    act?: Act,
  ): Promise<"cancelled" | "requested" | "already_final" | "not_found">;
  /**
   * Makes the running task of an attempt due at `at` if it would be due later, and nothing else. `leased`: somebody works on it now.
   * `idle`: the attempt is over, or its upstream's last answer was trouble, after which it is not asked sooner.
   */
  nudge(id: AttemptId, at: number): Promise<"nudged" | "leased" | "idle">;
  /** Lets an idempotency key be used again, if it still refers to this task. */
  freeIdempotency(use: Pick<IdempotencyClaim, "keyId" | "endpoint" | "key">, id: TaskId): Promise<void>;
  /** Removes idempotency records that ended before `now`. @returns how many, at most `limit` */
  expireIdempotency(now: number, limit: number): Promise<number>;

  /** Settles an attempt that `lostAttempts` told of. One that is settled stays as it is. */
  settleLost(id: AttemptId, end: LostEnd): Promise<void>;

  // Reads.
  /** Those of some lanes that ended since then, the oldest first; of many, some. */
  lostAttempts(lanes: readonly LaneId[], since: number): Promise<LostAttempt[]>;
  byId(id: TaskId): Promise<Task | undefined>;
  summary(id: TaskId): Promise<TaskSummary | undefined>;
  /** What a task was asked for, which its summary leaves out; undefined once it is removed. */
  requestOf(task: Pick<TaskSummary, "id" | "kind" | "model">): Promise<GenerationRequest | undefined>;
  attempts(id: TaskId): Promise<Attempt[]>;
  attempt(id: AttemptId): Promise<Attempt | undefined>;
  /** Everything that is kept of a task, as it stands at one moment. */
  story(id: TaskId): Promise<TaskStory | undefined>;
  /**
   * Some of the family of an account's task: the task that it began with, and all that was made from that, from what was made from it,
   * and so on, within the account. A page may have removed tasks beyond its limit, of which only what was made from them is left.
   *
   * @param query.after `next` of the page before
   * @returns undefined when the account has no such task
   */
  family(
    id: TaskId,
    owner: AccountId,
    query: { readonly limit: number; readonly after?: TaskId | undefined },
  ): Promise<FamilyPage | undefined>;
  /** In this order, the newest first unless given. */
  list(filter: TaskFilter, order?: ListOrder): Promise<TaskSummary[]>;
  /** Tasks that are indexed (`SearchStore`). Looks at a bounded number of them, and lets others work meanwhile. */
  search(filter: TaskSearch): Promise<FoundTasks>;
  /**
   * Tasks of all accounts, newest first. Looks at a bounded number of them, so that a page can be short, even empty, and not be the
   * last.
   */
  managedTasks(filter: ManagedTaskFilter): Promise<ManagedPage>;
  assetById(id: AssetId): AtHand<Asset | undefined>;
  counts(): Promise<TaskCounts>;
  /** The live tasks of each lane that has any, in the order of their names. Costs the same however many are queued. */
  lanes(): Promise<LaneLoad[]>;
  /** How many live tasks each lane has that has any. Costs more the more are queued. */
  laneCounts(): Promise<LaneCount[]>;
  /** The account's tasks that the lane may start now: how many, `most` at most, and when the oldest was created. Looks at 32 setups. */
  ownReady(lane: LaneId, accountId: AccountId, most: number): Promise<OwnReady>;
  /** The lanes that queued tasks wait for, in the order of their names. Costs a seek for each. */
  queuedLanes(): Promise<LaneId[]>;
  /** The tasks that completed or failed since then, or of a shorter time where those are many. @returns undefined for too many accounts */
  recentEndings(since: number): Promise<RecentEndings | undefined>;
  /**
   * How many tasks of its lane `claim` would start before this one, if nothing else were queued or put off, and each row went on to
   * its end: older ones of its account, those of other accounts whose turns come first, and those of other setups. At most
   * `MAX_QUEUE_POSITION`. 0 also for a task that has a lease.
   *
   * @returns undefined for a task that is not pending
   */
  queuePosition(id: TaskId): Promise<number | undefined>;
  liveCounts(accountId: AccountId): Promise<LiveCounts>;
  /**
   * Tasks by their latest change, oldest change first. Each is listed once, in its present state. Numbers grow in commit order, so a
   * reader that continues after the last number misses nothing.
   */
  changes(query: ChangeQuery): Promise<TaskChange[]>;
  /** The number of the latest change of any of the account's tasks; 0 before the first. */
  latestChange(accountId: AccountId): Promise<number>;
  /** As `changes`, of all accounts. Seeks once for each account that there is, and once for each change. */
  managedChanges(query: Omit<ChangeQuery, "accountId">): Promise<ManagedChange[]>;
  /** The number of the latest change of any task; 0 before the first. */
  latestManagedChange(): Promise<number>;
  /** Live tasks that are to be cancelled at a time, and when. Reads the requests of all live tasks. */
  timed(): Promise<TimedCancel[]>;
  /** The group of each live task that is of one with the policy `first`. Reads the requests of all live tasks. */
  races(): Promise<Race[]>;
  /** Live tasks whose creators waited for them, oldest first. */
  orphans(): Promise<OrphanedTask[]>;
}

/** The store cannot be written or read: disk full, read-only, damaged, or the bucket of files away. The operation wrote nothing. */
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

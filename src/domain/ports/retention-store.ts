import type { Act } from "../access/actor.ts";
import type { AccountId, TaskId } from "../ids.ts";
import type { Asset } from "../media/asset.ts";
import type { TaskStatus } from "../task/task.ts";

/** The outcome of removing a task. */
export type Removal =
  /** The task is removed. `contents`: the SHA-256 of the files that no other task has. */
  | { readonly kind: "removed"; readonly contents: readonly string[] }
  /** The task has not ended, so nothing was changed. */
  | { readonly kind: "live"; readonly status: TaskStatus }
  | { readonly kind: "not_found" };

/** One page of the assets of all tasks, newest first. */
export interface AssetPage {
  readonly assets: readonly Asset[];
  /** Where the next page begins; absent on the last one. */
  readonly next?: number | undefined;
}

/** The kinds of data that each have their own retention time after a task ends. */
export const KEPT_KINDS = ["outputs", "inputs", "callbacks", "tasks"] as const;
export type KeptKind = (typeof KEPT_KINDS)[number];

/** Selects tasks in the order in which they were accepted. */
export interface ExpiryQuery {
  readonly kind: KeptKind;
  /**
   * Tasks that ended before this, in epoch milliseconds, are due, unless their key or their account says otherwise; 0 selects
   * none.
   */
  readonly endedBefore: number;
  readonly now: number;
  /** `place` of the previous answer, or 0. */
  readonly after: number;
  /** Tasks to look at, ≥ 1. */
  readonly limit: number;
}

export interface Expiry {
  /** Tasks that still have data that is due for removal. */
  readonly due: readonly TaskId[];
  /** Where the next query continues; absent when no later task can be due. */
  readonly place?: number | undefined;
  /** No task up to this place has data of this kind, or ever will. */
  readonly finished: number;
}

/** The position of a removed task among all removed tasks. */
export interface RemovedPlace {
  /** When it was removed, in epoch milliseconds. */
  readonly at: number;
  readonly number: number;
}

export interface RemovedQuery {
  readonly removedBefore: number;
  /** `place` of the previous answer; the beginning unless given. */
  readonly after?: RemovedPlace | undefined;
  /** Tasks to look at, ≥ 1. */
  readonly limit: number;
}

export interface Removed {
  /** Tasks whose rows in the books may be merged into sums. */
  readonly due: readonly TaskId[];
  /** Where the next query continues; absent when there are no more. */
  readonly place?: RemovedPlace | undefined;
}

/** What an account has besides its money. */
export interface AccountRemains {
  readonly tasks: number;
  readonly files: number;
  readonly callbacks: number;
  /** Keys that still have a name, limits or a secret. */
  readonly keys: number;
}

/**
 * Removes data that is no longer kept. Every method is one transaction, durable before its promise resolves. Throws
 * `StorageError`.
 */
export interface RetentionStore {
  /**
   * Removes an ended task with its request, results, assets, attempts' content and callback. The rows that the books sum up
   * stay, and so does the id, but no read finds it. The caller removes the files. Removing the task again changes nothing.
   *
   * @param at when, in epoch milliseconds
   * @param owner the account that must own the task; any account unless given
   */
  remove(id: TaskId, at: number, owner?: AccountId): Promise<Removal>;
  /** Looks at some removed tasks, in the order of their removal. */
  removed(query: RemovedQuery): Promise<Removed>;
  /**
   * Adds the rows of removed tasks, of their attempts and of their ledger entries to sums by day. Rows that must stay are not
   * touched.
   */
  sumUp(ids: readonly TaskId[]): Promise<void>;
  /** Some tasks of an account, ended ones and live ones. */
  tasksOf(account: AccountId, limit: number): Promise<{ readonly ended: TaskId[]; readonly live: TaskId[] }>;
  /** Revokes an account's keys. Removes the names of the account and its keys, and everything they have besides their ids. */
  anonymise(account: AccountId, act: Act): Promise<void>;
  /** Counts anew, in all rows. */
  remainsOf(account: AccountId): Promise<AccountRemains>;
  /** Looks at some tasks. `filesDue` handles the tasks whose creators said how long files stay. */
  expired(query: ExpiryQuery): Promise<Expiry>;
  /** Tasks whose files are due for removal because their creators said so. */
  filesDue(now: number, limit: number): Promise<TaskId[]>;
  /**
   * Removes one kind of data from ended tasks. For the kind `tasks`, it removes all that `remove` does.
   *
   * @returns the contents that no task has any more; the caller removes their files
   */
  expire(kinds: readonly KeptKind[], ids: readonly TaskId[], now: number): Promise<string[]>;
  /** Those of some contents, by their SHA-256, that an asset or an attempt of a live task uses. */
  neededContents(contents: readonly string[]): Promise<string[]>;
  /** Contents that assets have, ordered by SHA-256, starting after the given one. */
  contentsAfter(sha256: string, limit: number): Promise<{ sha256: string; sizeBytes: number }[]>;
  /**
   * Records in each completed task with this content among its results that the content is damaged, or that it is intact again.
   *
   * @returns all tasks that have it
   */
  markDamaged(sha256: string, isDamaged: boolean): Promise<TaskId[]>;
  /** @param after `next` of the previous page */
  assets(query: { readonly limit: number; readonly after?: number | undefined }): Promise<AssetPage>;
}

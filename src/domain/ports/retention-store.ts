import type { Act } from "../access/actor.ts";
import type { AccountId, TaskId } from "../ids.ts";
import type { Asset } from "../media/asset.ts";
import type { TaskStatus } from "../task/task.ts";

/** What became of a task that was to be removed. */
export type Removal =
  /** It is gone. `contents`: the files that no other task has, by their SHA-256. */
  | { readonly kind: "removed"; readonly contents: readonly string[] }
  /** It has not ended, and nothing was changed. */
  | { readonly kind: "live"; readonly status: TaskStatus }
  | { readonly kind: "not_found" };

/** One page of the assets of all tasks, newest first. */
export interface AssetPage {
  readonly assets: readonly Asset[];
  /** Where the next page begins; absent on the last one. */
  readonly next?: number | undefined;
}

/** What is kept of ended tasks for a time of its own. */
export const KEPT_KINDS = ["outputs", "inputs", "callbacks", "tasks"] as const;
export type KeptKind = (typeof KEPT_KINDS)[number];

/** Asks for tasks in the order in which they were accepted. */
export interface ExpiryQuery {
  readonly kind: KeptKind;
  /** Tasks that ended before this, in epoch milliseconds, are due, unless their key or their account says otherwise; 0 for none. */
  readonly endedBefore: number;
  readonly now: number;
  /** `place` of the answer before, or 0. */
  readonly after: number;
  /** Tasks to look at, ≥ 1. */
  readonly limit: number;
}

export interface Expiry {
  /** Tasks that still have what is due to go. */
  readonly due: readonly TaskId[];
  /** Where to look on; absent when no later task can be due. */
  readonly place?: number | undefined;
  /** All tasks up to here have nothing of this kind any more, nor will have. */
  readonly finished: number;
}

/** A removed task's place among them. */
export interface RemovedPlace {
  /** When it was removed, in epoch milliseconds. */
  readonly at: number;
  readonly number: number;
}

export interface RemovedQuery {
  readonly removedBefore: number;
  /** `place` of the answer before; from the beginning unless given. */
  readonly after?: RemovedPlace | undefined;
  /** Tasks to look at, ≥ 1. */
  readonly limit: number;
}

export interface Removed {
  /** Those whose rows in the books may become sums. */
  readonly due: readonly TaskId[];
  /** Where to look on; absent when there are no more. */
  readonly place?: RemovedPlace | undefined;
}

/** What there is of an account besides its money. */
export interface AccountRemains {
  readonly tasks: number;
  readonly files: number;
  readonly callbacks: number;
  /** Those that still have a name, limits or a secret. */
  readonly keys: number;
}

/** What goes, and what must stay. Every method is one transaction, durable before its promise resolves. Throws `StorageError`. */
export interface RetentionStore {
  /**
   * Removes an ended task with its request, results, assets, attempts' content and callback. What stays is what the books add up, and
   * an id that no read finds. Its files are the caller's to remove. Removing it again changes nothing.
   *
   * @param at when, in epoch milliseconds
   * @param owner any account's unless given
   */
  remove(id: TaskId, at: number, owner?: AccountId): Promise<Removal>;
  /** Looks at some removed tasks, those first that were removed first. */
  removed(query: RemovedQuery): Promise<Removed>;
  /** Adds the rows of removed tasks, of their attempts and of their ledger entries to sums by day. What must stay is left alone. */
  sumUp(ids: readonly TaskId[]): Promise<void>;
  /** Some tasks of an account: those that have ended, and those that have not. */
  tasksOf(account: AccountId, limit: number): Promise<{ readonly ended: TaskId[]; readonly live: TaskId[] }>;
  /** Revokes an account's keys, and removes what they and the account are called and what they have besides their ids. */
  anonymise(account: AccountId, act: Act): Promise<void>;
  /** Counts anew, in all rows. */
  remainsOf(account: AccountId): Promise<AccountRemains>;
  /** Looks at some tasks. Those whose creators said how long files stay are `filesDue`'s. */
  expired(query: ExpiryQuery): Promise<Expiry>;
  /** Tasks whose files are due to go because their creators said so. */
  filesDue(now: number, limit: number): Promise<TaskId[]>;
  /**
   * Removes what is kept of ended tasks. Of `tasks`, all that `remove` does.
   *
   * @returns the contents that no task has any more; their files are the caller's to remove
   */
  expire(kinds: readonly KeptKind[], ids: readonly TaskId[], now: number): Promise<string[]>;
  /** Those of some contents, by their SHA-256, that an asset or a live task's attempt has. */
  neededContents(contents: readonly string[]): Promise<string[]>;
  /** Contents that assets have, in the order of their SHA-256, after one of them. */
  contentsAfter(sha256: string, limit: number): Promise<{ sha256: string; sizeBytes: number }[]>;
  /**
   * Notes with each completed task whose result it is that a content is damaged, or that it is whole again.
   *
   * @returns all tasks that have it
   */
  markDamaged(sha256: string, isDamaged: boolean): Promise<TaskId[]>;
  /** @param after `next` of the page before */
  assets(query: { readonly limit: number; readonly after?: number | undefined }): Promise<AssetPage>;
}

import type { ApiKey } from "../access/account.ts";
import type { Act } from "../access/actor.ts";
import type { AccountChange, NewAccount } from "./account-store.ts";

/** The kinds of things that are recorded as imported from another gateway. */
export type MarkKind = "account" | "key";

/** Records that something of another gateway was imported, and what it became. A mark outlives what it became. */
export interface ImportMark {
  readonly kind: MarkKind;
  /** Identifies it among the things of its kind at that gateway. No secret. */
  readonly origin: string;
  /** The id it got here. */
  readonly target: string;
}

/** An account to import, with the terms that it gets in addition to those of a new account. */
export interface BroughtAccount {
  readonly origin: string;
  readonly account: NewAccount;
  readonly terms: AccountChange;
}

/** A key to import. Its account exists or is part of the batch. */
export interface BroughtKey {
  readonly origin: string;
  readonly key: ApiKey;
}

export interface ImportBatch {
  /** The operator's name for the gateway. */
  readonly source: string;
  readonly accounts: readonly BroughtAccount[];
  readonly keys: readonly BroughtKey[];
}

/**
 * `clash`: an item of the batch was imported meanwhile, or its name or its secret is in use. Then nothing of the batch is
 * stored.
 */
export type Brought =
  | { readonly kind: "brought" }
  | { readonly kind: "clash"; readonly of: MarkKind; readonly name: string };

/** Accounts and keys of other gateways, each imported once. */
export interface ImportStore {
  marks(source: string): Promise<ImportMark[]>;
  /** Stores the whole batch in one transaction, with a mark and an entry of the trail for each item, or nothing. */
  bringIn(batch: ImportBatch, act: Act): Promise<Brought>;
}

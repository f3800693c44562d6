import type { ApiKey } from "../access/account.ts";
import type { Act } from "../access/actor.ts";
import type { AccountChange, NewAccount } from "./account-store.ts";

/** What kinds of things are remembered as brought from another gateway. */
export type MarkKind = "account" | "key";

/** Says that something of another gateway was brought here, and what it became. A mark outlives what it became. */
export interface ImportMark {
  readonly kind: MarkKind;
  /** What tells it from everything else of its kind there. No secret. */
  readonly origin: string;
  /** The id it got here. */
  readonly target: string;
}

/** An account to bring, with the terms it gets beside those of a new one. */
export interface BroughtAccount {
  readonly origin: string;
  readonly account: NewAccount;
  readonly terms: AccountChange;
}

/** A key to bring. Its account is there, or among those of the batch. */
export interface BroughtKey {
  readonly origin: string;
  readonly key: ApiKey;
}

export interface ImportBatch {
  /** What the operator calls the gateway it comes from. */
  readonly source: string;
  readonly accounts: readonly BroughtAccount[];
  readonly keys: readonly BroughtKey[];
}

/** `clash`: one of the batch was brought meanwhile, or its name or its secret is taken. Then nothing of the batch is there. */
export type Brought =
  | { readonly kind: "brought" }
  | { readonly kind: "clash"; readonly of: MarkKind; readonly name: string };

/** Accounts and keys of other gateways, each brought once. */
export interface ImportStore {
  marks(source: string): Promise<ImportMark[]>;
  /** All of a batch in one transaction, with its marks and an entry of the trail for each, or nothing. */
  bringIn(batch: ImportBatch, act: Act): Promise<Brought>;
}

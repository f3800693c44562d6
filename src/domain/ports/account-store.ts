import type { Account, ApiKey, KeyChange, KeyGrant, ManagementToken, Rotation } from "../access/account.ts";
import type { AccountMode, AccountTermsChange } from "../access/account-terms.ts";
import type { Act } from "../access/actor.ts";
import type { AtHand } from "../at-hand.ts";
import type { AccountId, KeyId, TaskId, TokenId } from "../ids.ts";
import type { ListOrder } from "../lists.ts";
import type { LedgerEntry } from "../money/ledger.ts";
import type { Micros, MicrosSum } from "../money/money.ts";

export interface NewAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly mode: AccountMode;
  /** First credit. If it is above zero, it is written to the ledger with the account. */
  readonly credit: Micros;
  readonly createdAt: number;
}

/** A change of an account. Absent members stay as they are; null removes a value. */
export interface AccountChange extends AccountTermsChange {
  readonly status?: Account["status"] | undefined;
}

/** The outcome of a credit or an adjustment; `account` is its state afterwards. */
export type Credit =
  | { readonly kind: "credited"; readonly account: Account }
  /** The same credit was made before, with the same idempotency key. */
  | { readonly kind: "replayed"; readonly account: Account }
  /** Another credit was made with this idempotency key. */
  | { readonly kind: "conflict" }
  /** It would leave a prepaid account with less than is held. */
  | { readonly kind: "too_low"; readonly account: Account }
  /** The balance would be more than can be counted exactly. */
  | { readonly kind: "uncountable"; readonly account: Account }
  | { readonly kind: "not_found" };

/** A ledger row with its account and time. */
export interface StoredLedgerEntry extends LedgerEntry {
  /** If this entry sums up entries of deleted tasks, their number. */
  readonly entries?: number | undefined;
  readonly accountId: AccountId;
  readonly at: number;
}

/** A ledger row in a page, with the balance after it. */
export interface LedgerRow extends StoredLedgerEntry {
  /** Unique among the rows of all accounts; later rows have higher numbers. */
  readonly number: number;
  readonly balance: Micros;
}

/** A part of a list in the order of ids, which is the order in which things were made. */
export interface ListPage {
  readonly limit: number;
  /** The id after which the page begins; undefined for the first page. */
  readonly after?: string | undefined;
  /** `asc`, the oldest first, unless given. */
  readonly order?: ListOrder | undefined;
}

/** Which keys are listed: of one account or of all. */
export interface KeyPage extends ListPage {
  readonly account?: AccountId | undefined;
  /** Only keys that have a quota and are not revoked. A few others may be among them. */
  readonly isLimited?: boolean | undefined;
}

/** What a key has spent and reserved of its quota. What it spent before it had one may be more than any quota. */
export interface QuotaUse {
  readonly used: MicrosSum;
  readonly reserved: Micros;
}

export type Refund =
  | { readonly kind: "refunded"; readonly amount: Micros; readonly account: Account }
  /** The amount is more than the task was charged. */
  | { readonly kind: "too_much"; readonly charged: Micros }
  /** The task is live, failed or cancelled, or was free. */
  | { readonly kind: "not_charged" }
  | { readonly kind: "already_refunded" }
  | { readonly kind: "not_found" };

/** A key's callbacks must be signed, but this process cannot open the sealed secret. */
export const LOCKED = Symbol("locked");

/**
 * Accounts, API keys and management tokens. Every method is one transaction. Names are unique within their kind, accounts by
 * name, keys by account and name among those not revoked. A method that changes anything also writes an entry of the trail,
 * from the `act` that it gets.
 */
export interface AccountStore {
  createAccount(account: NewAccount, act: Act): Promise<"created" | "name_taken">;
  /** Creates the first account and its key, both or neither. */
  createFirst(account: NewAccount, key: ApiKey, act: Act): Promise<"created" | "not_first">;
  accounts(page: ListPage): Promise<Account[]>;
  /** The names of those of the accounts that there are. */
  accountNames(ids: readonly AccountId[]): Promise<ReadonlyMap<string, string>>;
  /**
   * The accounts that have less left than their `lowBalance`, or had when a task was created and have not twice as much since, nor
   * been given more; unlimited ones too, and none that is suspended.
   */
  lowAccounts(): Promise<Account[]>;
  /** By id or by name. */
  account(idOrName: string): Promise<Account | undefined>;
  /**
   * Changes only what is given. Grants show it at once.
   *
   * @returns the new state; `overdrawn` when a prepaid account with that credit limit would hold more than it has
   */
  updateAccount(id: AccountId, change: AccountChange, act: Act): Promise<Account | "overdrawn" | "not_found">;
  /**
   * Appends a credit (or, below zero, an adjustment) and moves the balance.
   *
   * @param act who does it, and when; the ledger names its actor (`ledgerActor`)
   * @param idempotencyKey the account is credited once for each key
   */
  credit(id: AccountId, amount: Micros, reason: string, act: Act, idempotencyKey?: string): Promise<Credit>;
  /**
   * Returns to the account what a completed task was charged, once for each task. Usage and the quota of the task's key stay as
   * they are.
   */
  refund(task: TaskId, amount: Micros | undefined, reason: string, act: Act): Promise<Refund>;
  ledger(id: AccountId): Promise<StoredLedgerEntry[]>;
  /** Newest first: at most `limit` rows, those before the row with number `before`. */
  ledgerPage(
    id: AccountId,
    page: { readonly limit: number; readonly before?: number | undefined },
  ): Promise<LedgerRow[]>;

  /** @param callbackSecret signs the key's callbacks (`isSigningSecret`), if `key.signsCallbacks` */
  createKey(
    key: ApiKey,
    callbackSecret: string | undefined,
    act: Act,
  ): Promise<"created" | "name_taken" | "no_account">;
  /** @param account all accounts unless given */
  keys(page: KeyPage): Promise<ApiKey[]>;
  /** The names of those of the keys that there are. */
  keyNames(ids: readonly KeyId[]): Promise<ReadonlyMap<string, string>>;
  /** The keys of a name that are not revoked, newest first; without any, the one of them that was revoked last. */
  keysNamed(name: string, limit: number): Promise<ApiKey[]>;
  /** By id, or by name among the keys that are not revoked; undefined when several accounts have a key of that name. */
  key(idOrName: string): Promise<ApiKey | undefined>;
  revokeKey(id: KeyId, now: number, act: Act): Promise<"revoked" | "already_revoked" | "not_found">;
  /**
   * How much of a quota is used in a period (`quotaPeriod`). The time when a task was accepted decides its period. If counting
   * for the key began within the period, charges since its first day count as used, and the holds of live tasks as reserved.
   */
  keyQuota(id: KeyId, period: number): Promise<QuotaUse>;
  /** The same of some keys, in their order. */
  keyQuotas(asked: readonly { readonly id: KeyId; readonly period: number }[]): Promise<readonly QuotaUse[]>;
  /** Changes only what is given. @returns the new state; a revoked key does not change */
  changeKey(id: KeyId, change: KeyChange, act: Act): Promise<ApiKey | "revoked" | "not_found">;
  /**
   * Gives a key a new secret and keeps everything else. Its present secret is accepted until `previousExpiresAt`; an older one is no
   * longer accepted.
   *
   * @returns the new state; a revoked key does not change
   */
  rotateKey(id: KeyId, rotation: Rotation, act: Act): Promise<ApiKey | "revoked" | "not_found">;
  /**
   * The stored secrets that sign the key's callbacks, for `signatureHeaders`; undefined when callbacks are not signed, or there
   * is no such key; `LOCKED` when this process lacks the key that sealed them. Never older than the call.
   */
  callbackSecret(id: KeyId): Promise<string | typeof LOCKED | undefined>;
  /**
   * The grant of the key whose secret, or previous secret, has this hash. Costs no query when cached. Shows a change by another
   * process within a second, and one by this process at once. A grant that was read recently stays available while it is read
   * again.
   */
  grantByHash(hash: string, now: number): AtHand<KeyGrant | undefined>;

  createToken(token: ManagementToken, act: Act): Promise<"created" | "name_taken">;
  tokens(page: ListPage): Promise<ManagementToken[]>;
  token(idOrName: string): Promise<ManagementToken | undefined>;
  /** The token of a name that was revoked last. */
  revokedToken(name: string): Promise<ManagementToken | undefined>;
  /** The token with this hash, with the same promises as `grantByHash`. */
  tokenByHash(hash: string, now: number): AtHand<ManagementToken | undefined>;
  /** Records when a token was last accepted. */
  tokenUsed(id: TokenId, now: number): Promise<void>;
  revokeToken(id: TokenId, now: number, act: Act): Promise<"revoked" | "already_revoked" | "not_found">;
}
